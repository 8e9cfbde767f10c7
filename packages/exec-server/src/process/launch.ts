import { type ChildProcess, spawn } from "node:child_process";
import { accessSync, closeSync, constants } from "node:fs";
import { Socket } from "node:net";
import type { OutputStream, TerminalSize } from "@codex/executor-protocol";
import { type ByteSource, readPipe, readStream, readTerminal } from "./byte-source.js";
import { errnoOf, StartError } from "./errors.js";
import type { ProcessSpec } from "./exec-backend.js";
import { DEFAULT_TERMINAL_SIZE } from "./limits.js";
import type { Native } from "./native.js";
import { getSignalName } from "./signals.js";
import { closedStdin, createPipeWriter, createTerminalWriter, type StdinWriter } from "./stdin-writer.js";

/** A process that was just started, leader of its own session: its pid is the id of its group. */
export interface Launched {
  pid: number;
  stdin: StdinWriter;
  sources: ByteSource[];
  /** Undefined on pipes. @throws when the terminal is gone. */
  resize: ((size: TerminalSize) => void) | undefined;
}

export interface LaunchEvents {
  onOutput(stream: OutputStream, bytes: Buffer): void;
  /** Once for each of `sources`. */
  onStreamEnd(): void;
  onExit(status: { code: number } | { signal: string }): void;
}

/** @throws StartError */
export function launch(spec: ProcessSpec, file: string, native: Native, events: LaunchEvents): Promise<Launched> {
  if (spec.stdio.kind === "pipe") return launchOnPipes(spec, file, spec.stdio.stdin === "open", native, events);
  const size = spec.stdio.size ?? DEFAULT_TERMINAL_SIZE;
  return process.platform === "linux"
    ? launchOnTerminal(spec, file, size, native, events)
    : launchForked(spec, file, size, native, events);
}

async function launchOnPipes(
  spec: ProcessSpec,
  file: string,
  openStdin: boolean,
  native: Native,
  events: LaunchEvents,
): Promise<Launched> {
  // Node's own "pipe" is a socket, and opening /dev/stdout or /dev/stderr fails on a socket.
  const pipes = [openStdin ? tryOpen(native) : undefined, tryOpen(native), tryOpen(native)] as const;
  const [input, output, errors] = pipes;
  const ends = pipes.flatMap((pipe) => (pipe === undefined ? [] : [pipe.read, pipe.write]));
  const child = await spawnChild(
    () =>
      spawn(file, spec.argv.slice(1), {
        argv0: spec.arg0 ?? spec.argv[0]!,
        cwd: spec.cwd,
        env: spec.env,
        detached: true,
        stdio: [openStdin ? (input?.read ?? "pipe") : "ignore", output?.write ?? "pipe", errors?.write ?? "pipe"],
      }),
    events,
  ).catch((error: unknown) => {
    for (const fd of ends) closeSync(fd);
    throw error;
  });
  for (const fd of [input?.read, output?.write, errors?.write]) if (fd !== undefined) closeSync(fd);
  const sinkFor = (stream: OutputStream) => ({
    onBytes: (bytes: Buffer) => events.onOutput(stream, bytes),
    onEnd: events.onStreamEnd,
  });
  const writable = input === undefined ? child.stdin : new Socket({ fd: input.write, readable: false, writable: true });
  return {
    pid: child.pid!,
    stdin: writable === null ? closedStdin : createPipeWriter(writable),
    sources: [
      output === undefined ? readStream(child.stdout!, sinkFor("stdout")) : readPipe(output.read, sinkFor("stdout")),
      errors === undefined ? readStream(child.stderr!, sinkFor("stderr")) : readPipe(errors.read, sinkFor("stderr")),
    ],
    resize: undefined,
  };
}

function tryOpen(native: Native) {
  try {
    return native.openPipe();
  } catch (cause) {
    throw new StartError("os_error", "no pipe could be made: too many open files", { cause });
  }
}

/**
 * Linux. The terminal is opened here and `setsid -c` makes it the controlling terminal of the new session, so no thread
 * waits for the process, and libuv tells how it ended. This process holds the slave side until the process has exited:
 * a terminal without any holder reports a hang-up.
 */
async function launchOnTerminal(
  spec: ProcessSpec,
  file: string,
  size: TerminalSize,
  native: Native,
  events: LaunchEvents,
): Promise<Launched> {
  const { master, slave } = openTerminal(native, size);
  const [command, ...args] = terminalCommand(spec, file);
  const child = await spawnChild(
    () => spawn(command!, args, { cwd: spec.cwd, env: spec.env, stdio: [slave, slave, slave] }),
    {
      onExit: (status) => {
        closeSync(slave);
        events.onExit(status);
      },
    },
  ).catch((error: unknown) => {
    closeSync(master);
    closeSync(slave);
    throw error;
  });
  return { pid: child.pid!, ...attachTerminal(master, native, events) };
}

function openTerminal(native: Native, size: TerminalSize) {
  try {
    return native.openTerminal(size);
  } catch (cause) {
    const detail = cause instanceof Error ? cause.message : String(cause);
    throw new StartError("no_terminal", `no terminal could be opened: ${detail}`, { cause });
  }
}

/** argv that runs the program on the terminal at its stdin, with exactly the environment it is given. */
function terminalCommand(spec: ProcessSpec, file: string): string[] {
  const setsid = ["/usr/bin/setsid", "/bin/setsid"].find(isExecutable);
  if (setsid === undefined) {
    throw new StartError("no_terminal", "no terminal: the program `setsid` (util-linux or busybox) is missing");
  }
  const [name, ...args] = spec.argv;
  if (spec.arg0 !== undefined) {
    if (!isExecutable("/bin/bash")) {
      throw new StartError("no_terminal", "`arg0` on a terminal needs /bin/bash, which is missing");
    }
    return [setsid, "-c", "--", "/bin/bash", "-c", 'exec -a "$0" "$@"', spec.arg0, file, ...args];
  }
  // Given by name it is found again on the same PATH, and sees the name as its argv[0].
  return [setsid, "-c", "--", spec.env.PATH === undefined ? file : name!, ...args];
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** macOS, where only the process itself can take a controlling terminal: node-pty's helper does. */
async function launchForked(
  spec: ProcessSpec,
  file: string,
  size: TerminalSize,
  native: Native,
  events: LaunchEvents,
): Promise<Launched> {
  if (spec.arg0 !== undefined)
    throw new StartError("no_terminal", "`arg0` on a terminal is not supported on this host");
  const onExit = (code: number, signal: number) =>
    events.onExit(signal === 0 ? { code } : { signal: getSignalName(signal) });
  const env = Object.entries(spec.env).map(([name, value]) => `${name}=${value}`);
  try {
    const args = spec.argv.slice(1);
    const { master, pid } = native.forkTerminal({ file, args, env, cwd: spec.cwd, size, onExit });
    return { pid, ...attachTerminal(master, native, events) };
  } catch (cause) {
    const detail = cause instanceof Error ? cause.message : String(cause);
    throw new StartError("no_terminal", `no terminal could be opened: ${detail}`, { cause });
  }
}

function attachTerminal(master: number, native: Native, events: LaunchEvents): Omit<Launched, "pid"> {
  const source = readTerminal(master, {
    onBytes: (bytes) => events.onOutput("pty", bytes),
    onEnd: () => {
      stdin.close();
      events.onStreamEnd();
    },
  });
  const stdin = createTerminalWriter(master, () => source.open);
  return {
    stdin,
    sources: [source],
    resize: (size) => {
      if (!source.open) throw new Error("the terminal is gone");
      native.resizeTerminal(master, size);
    },
  };
}

/** Resolves once the process exists. A failure of the system call itself becomes a StartError. */
function spawnChild(start: () => ChildProcess, events: Pick<LaunchEvents, "onExit">): Promise<ChildProcess> {
  return new Promise((resolve, reject) => {
    const fail = (cause: unknown) => {
      const detail = START_FAILURES[errnoOf(cause) ?? ""] ?? (cause instanceof Error ? cause.message : String(cause));
      reject(new StartError("os_error", `the process could not be started: ${detail}`, { cause }));
    };
    let child: ChildProcess;
    try {
      child = start();
    } catch (error) {
      return fail(error);
    }
    child.on("error", fail);
    child.once("exit", (code, signal) => events.onExit(signal === null ? { code: code ?? 0 } : { signal }));
    if (child.pid !== undefined) resolve(child);
  });
}

const START_FAILURES: Readonly<Record<string, string>> = {
  E2BIG: "arguments and environment together are larger than the host allows (E2BIG)",
  EAGAIN: "the host's limit of processes is reached (EAGAIN)",
  EMFILE: "the limit of open files is reached (EMFILE)",
  ENOMEM: "out of memory (ENOMEM)",
  ETXTBSY: "the program is being written to (ETXTBSY)",
  ENOEXEC: "the program has no known format (ENOEXEC)",
  ENOENT: "the program or its interpreter does not exist (ENOENT)",
  EACCES: "the program may not be executed (EACCES)",
};
