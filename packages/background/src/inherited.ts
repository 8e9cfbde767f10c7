import { closeSync, readdirSync, readFileSync } from "node:fs";

/** fcntl.h of Linux, octal as in /proc. */
const O_CLOEXEC = 0o2000000;

/**
 * Closes the descriptors that programs started by this process would inherit beside its standard streams: Node has marked
 * those that it found when it started, but only up to the first gap. For a process that does nothing else. Linux; on macOS
 * Node starts programs without them.
 */
export function closeInherited(env: Readonly<Record<string, string | undefined>> = process.env): void {
  // Node's own channel to a parent that has forked it.
  const kept = Number(env.NODE_CHANNEL_FD ?? Number.NaN);
  for (const fd of listInheritable()) if (fd > 2 && fd !== kept) closeSync(fd);
}

/** Descriptors that are not closed when a program is started. Those of Node are. */
function listInheritable(): number[] {
  try {
    return readdirSync("/proc/self/fdinfo").map(Number).filter(isInheritable);
  } catch {
    return [];
  }
}

function isInheritable(fd: number): boolean {
  try {
    const [, flags = ""] = /^flags:\s*([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, "latin1")) ?? [];
    return (Number.parseInt(flags, 8) & O_CLOEXEC) === 0;
  } catch {
    return false; // that of the listing itself
  }
}
