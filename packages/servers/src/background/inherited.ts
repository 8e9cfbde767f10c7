import { closeSync, readdirSync, readFileSync } from "node:fs";

/** fcntl.h of Linux, octal as in /proc. */
const O_CLOEXEC = 0o2000000;

/**
 * Closes the descriptors that child processes would inherit in addition to the standard streams: at its start Node marks
 * inherited descriptors as close-on-exec only up to the first unused number. For a process that does nothing else. Linux only;
 * on macOS Node closes them in its children.
 */
export function closeInherited(env: Readonly<Record<string, string | undefined>> = process.env): void {
  // Node's IPC channel to a parent that has forked it.
  const kept = Number(env.NODE_CHANNEL_FD ?? Number.NaN);
  for (const fd of listInheritable()) if (fd > 2 && fd !== kept) closeSync(fd);
}

/** Descriptors without close-on-exec. Those that Node opens have it. */
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
    return false; // the descriptor of the listing itself
  }
}
