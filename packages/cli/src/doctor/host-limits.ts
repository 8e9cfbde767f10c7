import { readFileSync } from "node:fs";
import { type Check, type Finding, ok, problem, warning } from "./check.js";
import {
  FEW_FILES,
  FEW_PROCESSES,
  FEW_TERMINALS,
  FEW_WATCH_INSTANCES,
  FEW_WATCHES,
  TOO_FEW_FILES,
  TOO_FEW_PROCESSES,
} from "./limits.js";
import { runProgram } from "./run-program.js";

interface Limit {
  few: number;
  tooFew: number;
  fix: string;
}

export const checkOpenFiles: Check = {
  name: "open files",
  run: async () =>
    judge(await readUlimit("-n", "Max open files"), {
      few: FEW_FILES,
      tooFew: TOO_FEW_FILES,
      fix: "`ulimit -n 4096` before the command, LimitNOFILE= of its service, or /etc/security/limits.conf",
    }),
};

export const checkProcesses: Check = {
  name: "processes",
  run: async () =>
    judge(Math.min(await readUlimit("-u", "Max processes"), readCgroupLimit()), {
      few: FEW_PROCESSES,
      tooFew: TOO_FEW_PROCESSES,
      fix: "`ulimit -u 4096`, TasksMax= of its service, or `--pids-limit` of its container",
    }),
};

export const checkTerminals: Check = {
  name: "terminals",
  async run() {
    const { most, used } = await countTerminals();
    const free = most - used;
    const detail = `${used} of ${most} are in use`;
    const fix =
      process.platform === "linux"
        ? "`sysctl kernel.pty.max=4096`"
        : "`sysctl kern.tty.ptmx_max=999`, or end the programs that use them";
    if (free <= 0) return problem(detail, fix);
    return free < FEW_TERMINALS ? warning(detail, fix) : ok(detail);
  },
};

export const checkWatches: Check = {
  name: "file watches",
  run() {
    if (process.platform !== "linux") return ok("not limited on this system");
    const directory = "/proc/sys/fs/inotify";
    const watches = Number(readFileSync(`${directory}/max_user_watches`, "utf8"));
    const instances = Number(readFileSync(`${directory}/max_user_instances`, "utf8"));
    const detail = `${watches} watches, ${instances} instances`;
    if (watches >= FEW_WATCHES && instances >= FEW_WATCH_INSTANCES) return ok(detail);
    return warning(detail, "`sysctl fs.inotify.max_user_watches=65536 fs.inotify.max_user_instances=256`");
  },
};

function judge(found: number, { few, tooFew, fix }: Limit): Finding {
  const detail = Number.isFinite(found) ? `at most ${found}` : "not limited";
  if (found < tooFew) return problem(detail, fix);
  return found < few ? warning(detail, fix) : ok(detail);
}

/** The soft limit of this process, which Node raises to the hard limit if it can; `Infinity` for none. */
async function readUlimit(flag: string, name: string): Promise<number> {
  if (process.platform === "linux") {
    const line = readFileSync("/proc/self/limits", "utf8")
      .split("\n")
      .find((one) => one.startsWith(name));
    return toNumber(line?.slice(name.length).trim().split(/\s+/)[0]);
  }
  const { stdout } = await runProgram("/bin/sh", ["-c", `ulimit ${flag}`]);
  return toNumber(stdout.trim());
}

/** Limit of the container or service, where it is visible. */
function readCgroupLimit(): number {
  try {
    const path = readFileSync("/proc/self/cgroup", "utf8").match(/^0::(.*)$/m)?.[1] ?? "/";
    return toNumber(readFileSync(`/sys/fs/cgroup${path}/pids.max`, "utf8").trim());
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

function toNumber(text: string | undefined): number {
  if (text !== undefined && /^\d+$/.test(text)) return Number(text);
  return Number.POSITIVE_INFINITY;
}

async function countTerminals(): Promise<{ most: number; used: number }> {
  if (process.platform === "linux") {
    const read = (name: string) => Number(readFileSync(`/proc/sys/kernel/pty/${name}`, "utf8"));
    return { most: read("max"), used: read("nr") };
  }
  const { stdout } = await runProgram("/usr/sbin/sysctl", ["-n", "kern.tty.ptmx_max"]);
  const { stdout: listed } = await runProgram("/bin/sh", ["-c", "ls /dev/ttys* 2>/dev/null | wc -l"]);
  return { most: Number(stdout), used: Number(listed) };
}
