import { closeSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { openUnnamed, type UnnamedFile } from "@codex/exec-backend";
import { messageOf } from "@codex/values";
import { type GuardShell, type ShellHost, startGuardShell } from "./guard-shell.js";
import { createPlaceholderList, toFreeLine } from "./placeholder-list.js";

/**
 * Ends process groups, init processes of sandboxes, and on Linux every process that left them, when this process ends for any
 * reason, SIGKILL included.
 *
 * The ids of the running groups are in an unnamed file. A small shell in a session of its own holds the file and the reading end
 * of a pipe from this process that carries no data. When the pipe is closed, explicitly or by the end of this process, the shell
 * kills the processes that the file lists, and then all that carry a mark of this owner. This costs one sleeping process, started
 * with the first group, and one small write to the page cache for each start and end.
 */
export interface Guard {
  /** Starts the shell unless it is running. @throws a system error when it cannot be started */
  open(): void;
  /** @throws a system error when the group cannot be recorded */
  add(pgid: number): void;
  remove(pgid: number): void;
  /** Like `add`, for a single process: the init process of a sandbox, with which all processes of the sandbox end. */
  addProcess(pid: number): void;
  removeProcess(pid: number): void;
  /** Adds a placeholder of a sandbox, to be removed if this process cannot. Counted: call `removePlaceholder` as often. */
  addPlaceholder(path: string): void;
  removePlaceholder(path: string): void;
  /** The same for a name that a sandboxed command must not create: what is there is moved aside when its sandbox has ended. */
  addFreeName(path: string): void;
  removeFreeName(path: string): void;
  /** Kills every group and process that was not removed. Idempotent. */
  close(): void;
}

/** `p` for a single process, an id and a line feed; process ids have at most 7 digits on Linux and fewer on macOS. */
const SLOT_BYTES = 11;

/** Slots by which the file grows, one page: they are allocated before they are used, as the disk may be full by then. */
const SLOTS_PER_PAGE = 372;

export interface GuardOptions {
  /** Directories for the unnamed file; the first one that works is used. */
  directories?: readonly string[];
  /** `Marks.prefix` of this owner. */
  markPrefix?: string;
  /** Starts the shell without a copy of this process. Linux; absent: Node starts it. */
  native?: ShellHost | undefined;
}

/** The second is for when the disk for temporary files is full. */
const DIRECTORIES = process.platform === "linux" ? [tmpdir(), "/dev/shm"] : [tmpdir()];

export function createGuard({ directories = DIRECTORIES, markPrefix = "", native }: GuardOptions = {}): Guard {
  /** Entries for groups and processes, and their slots in the file. */
  const slots = new Map<string, number>();
  const free: number[] = [];
  let used = 0;
  /** Slots that the file has. */
  let size = 0;
  let file: number | undefined;
  let shell: GuardShell | undefined;
  let closed = false;
  const names = createPlaceholderList();

  const write = (slot: number, text: string) => {
    if (file !== undefined) writeWhole(file, `${text.padStart(SLOT_BYTES - 1)}\n`, slot * SLOT_BYTES);
  };
  const grow = (slot: number) => {
    for (; file !== undefined && size <= slot; size += SLOTS_PER_PAGE) writeBlank(file, size);
  };
  const start = () => {
    const opened = openSlots(directories, used);
    ({ file, size } = opened);
    for (const [text, slot] of slots) write(slot, text);
    const list = names.open(directories);
    try {
      shell = startGuardShell({ places: opened.reader, names: list, markPrefix, native, onGone });
    } catch (error) {
      forget();
      throw error;
    } finally {
      closeSync(opened.reader);
      if (list !== undefined) closeSync(list);
    }
  };
  const forget = () => {
    shell = undefined;
    if (file !== undefined) closeSync(file);
    file = undefined;
    names.close();
  };
  const onGone = (ran: boolean) => {
    forget();
    try {
      if (ran && !closed) start();
    } catch {
      // The next start tries again, and reports the error.
    }
  };
  const open = () => {
    if (!closed && shell === undefined) start();
  };
  const put = (text: string) => {
    if (closed || slots.has(text)) return;
    open();
    const slot = free.at(-1) ?? used;
    grow(slot);
    write(slot, text);
    if (free.pop() === undefined) used += 1;
    slots.set(text, slot);
  };
  const erase = (text: string) => {
    const slot = slots.get(text);
    if (slot === undefined) return;
    slots.delete(text);
    free.push(slot);
    try {
      write(slot, "");
    } catch {
      // A copy-on-write file system may be full: the next group takes this slot.
    }
  };
  return {
    open,
    add: (pgid) => put(String(pgid)),
    remove: (pgid) => erase(String(pgid)),
    addProcess: (pid) => put(`p${pid}`),
    removeProcess: (pid) => erase(`p${pid}`),
    addPlaceholder: (path) => names.add(path),
    removePlaceholder: (path) => names.remove(path),
    addFreeName: (path) => names.add(toFreeLine(path)),
    removeFreeName: (path) => names.remove(toFreeLine(path)),
    close() {
      closed = true;
      shell?.end();
    },
  };
}

/** Opens the file with more than `used` slots, for this process and for the shell, in the first directory where that works. */
function openSlots(directories: readonly string[], used: number): { file: number; reader: number; size: number } {
  const problems: string[] = [];
  for (const directory of directories) {
    let opened: UnnamedFile | undefined;
    try {
      opened = openUnnamed(directory);
      let size = 0;
      for (; size <= used; size += SLOTS_PER_PAGE) writeBlank(opened.file, size);
      return { ...opened, size };
    } catch (error) {
      for (const fd of Object.values(opened ?? {})) closeSync(fd);
      problems.push(`${directory}: ${messageOf(error)}`);
    }
  }
  throw new Error(problems.join("; "));
}

function writeBlank(file: number, slot: number): void {
  writeWhole(file, `${" ".repeat(SLOT_BYTES - 1)}\n`.repeat(SLOTS_PER_PAGE), slot * SLOT_BYTES);
}

/** Several writes: a disk that fills up accepts only a part. */
function writeWhole(file: number, text: string, position: number): void {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at, bytes.length - at, position + at);
}
