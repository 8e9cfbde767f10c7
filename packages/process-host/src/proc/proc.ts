import { readdirSync, readFileSync } from "node:fs";
import { open, readFile, stat } from "node:fs/promises";

// Linux's /proc. Files that the kernel serves immediately are read synchronously; those that may block on the process, or on a
// file system that hangs, are read on the thread pool. Undefined when the process is gone or may not be inspected.

/** A process and its descendants, at most `max` of them, parents first. */
export function listDescendants(pid: number, max: number): number[] {
  const found = [pid];
  for (let index = 0; index < found.length && found.length < max; index += 1) {
    for (const thread of listThreads(found[index]!, max)) {
      const children = readText(`/proc/${found[index]}/task/${thread}/children`);
      for (const child of children?.split(" ") ?? []) if (child.trim() !== "") found.push(Number(child));
    }
  }
  return found.slice(0, max);
}

/** Ids of its threads, at most `max`. */
export function listThreads(pid: number, max: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).slice(0, max).map(Number);
  } catch {
    return [];
  }
}

/** The system call that a thread is blocked in, and its arguments. */
export interface BlockedCall {
  number: number;
  args: readonly number[];
}

/** `running` when it is not blocked in a system call; undefined when it is gone or may not be inspected. */
export async function readBlockedCall(pid: number, thread: number): Promise<BlockedCall | "running" | undefined> {
  const text = await readFile(`/proc/${pid}/task/${thread}/syscall`, "latin1").catch(() => undefined);
  if (text === undefined) return undefined;
  // Number, six arguments, stack and program counter; or `running`; or -1 when it is blocked elsewhere.
  const [number, ...args] = text.trim().split(" ").map(Number);
  if (number === undefined || !(number >= 0) || args.length < 6) return "running";
  return { number, args: args.slice(0, 6) };
}

/** Memory of a process. */
export async function readMemory(pid: number, address: number, length: number): Promise<Buffer | undefined> {
  const file = await open(`/proc/${pid}/mem`).catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(length), 0, length, address);
    return bytesRead === length ? buffer : undefined;
  } catch {
    return undefined;
  } finally {
    await file.close();
  }
}

/** Descriptors that an epoll descriptor watches for input. */
export function readEpollTargets(pid: number, fd: number): number[] {
  const text = readText(`/proc/${pid}/fdinfo/${fd}`);
  const lines = [...(text ?? "").matchAll(/^tfd:\s*(\d+)\s+events:\s*([0-9a-f]+)/gm)];
  return lines
    .filter(([, , events]) => (Number.parseInt(events!, 16) & EPOLLIN) !== 0)
    .map(([, target]) => Number(target));
}

const EPOLLIN = 1;

/** What an open descriptor of a process refers to. */
export async function readTarget(
  pid: number,
  fd: number,
): Promise<{ dev: number; ino: number; rdev: number } | undefined> {
  return stat(`/proc/${pid}/fd/${fd}`).catch(() => undefined);
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return undefined;
  }
}
