import { accessSync, chmodSync, constants, existsSync, statfsSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type Check, type Finding, ok, problem, warning } from "./check.js";
import { LITTLE_SPACE, TOO_LITTLE_SPACE } from "./limits.js";
import { withTrialDirectory } from "./trial-directory.js";

export const checkTemporaryFiles: Check = {
  name: "temporary files",
  run() {
    const directory = tmpdir();
    const found = existsSync(directory) ? judgeSpace(directory) : undefined;
    // Before anything is written: a full file system has no room for a directory either.
    if (found !== undefined && found.status !== "ok") return found;
    const allowsPrograms = withTrialDirectory(({ directory }) => tryProgram(join(directory, "program")));
    if (found === undefined || allowsPrograms === undefined) {
      return problem(`${directory} is not writable`, "point TMPDIR at a directory that this user can write to");
    }
    if (!allowsPrograms) {
      return warning(
        `${directory} does not allow programs to run (noexec)`,
        "mount it without noexec, or point TMPDIR elsewhere: programs built there cannot run",
      );
    }
    return found;
  },
};

/** Whether the file system of `file` allows programs to run. */
function tryProgram(file: string): boolean {
  writeFileSync(file, "#!/bin/sh\n");
  chmodSync(file, 0o700);
  try {
    accessSync(file, constants.X_OK); // fails on a file system that is mounted with noexec
    return true;
  } catch {
    return false;
  }
}

function judgeSpace(directory: string): Finding {
  const { bavail, bsize } = statfsSync(directory);
  const free = bavail * bsize;
  const detail = `${directory}: ${describeBytes(free)} free`;
  const fix =
    "free some space, or point TMPDIR elsewhere: output over the memory limit is kept there, up to 16 MiB for each session";
  if (free < TOO_LITTLE_SPACE) return problem(detail, fix);
  return free < LITTLE_SPACE ? warning(detail, fix) : ok(detail);
}

function describeBytes(bytes: number): string {
  if (bytes >= 1024 ** 3) return `${(bytes / 1024 ** 3).toFixed(1)} GiB`;
  return `${Math.floor(bytes / 1024 ** 2)} MiB`;
}

export const checkSharedMemory: Check = {
  name: "shared memory",
  run() {
    if (process.platform !== "linux") return ok("not used on this system");
    const fix = "mount a tmpfs at /dev/shm (`--shm-size=256m` of a container): browsers and build tools need it";
    try {
      accessSync("/dev/shm", constants.W_OK);
    } catch {
      return warning("/dev/shm is missing or not writable", fix);
    }
    const { bavail, bsize } = statfsSync("/dev/shm");
    const free = bavail * bsize;
    const detail = `${describeBytes(free)} free in /dev/shm`;
    return free < TOO_LITTLE_SPACE ? warning(detail, fix) : ok(detail);
  },
};

export const checkLoopback: Check = {
  name: "loopback",
  run: (signal) =>
    new Promise((resolve) => {
      const server = createServer();
      const fix = "bring the loopback interface up (`ip link set lo up`): a websocket listener needs it";
      server.once("error", (error) => resolve(problem(`no port can be bound on 127.0.0.1: ${error.message}`, fix)));
      server.listen({ host: "127.0.0.1", port: 0, signal }, () =>
        server.close(() => resolve(ok("a port can be bound on 127.0.0.1"))),
      );
    }),
};

/** The nearest existing path among `path` and its ancestors. */
export function nearestExisting(path: string): string {
  for (let at = path; ; at = dirname(at)) {
    try {
      statSync(at);
      return at;
    } catch {
      if (dirname(at) === at) return at;
    }
  }
}

/** Whether a file could be written at a path, creating missing directories. */
export function couldWrite(path: string): boolean {
  const existing = nearestExisting(path);
  return (existing === path || statSync(existing).isDirectory()) && isWritable(existing);
}

export const isWritable = (path: string): boolean => {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
};
