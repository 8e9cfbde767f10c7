import { tmpdir } from "node:os";
import type { TerminalSize } from "@codex/executor-protocol";

/** Retention of one process's output, bytes. */
export interface OutputLogLimits {
  /** Kept from the beginning. */
  headBytes: number;
  /** Kept from the end. */
  tailBytes: number;
  /** Size of the file that takes what leaves memory; 0 for none. */
  spillBytes: number;
  /** Directory of the spill file. */
  spillDir: string;
  /** Followers read the bytes of a chunk only until they ask for the next one: the memory is reused. */
  lendsChunks?: boolean;
}

/** Retention of one process's output. The memory figures are Codex's: the first and the last 512 KiB. */
export const DEFAULT_LOG_LIMITS: OutputLogLimits = {
  headBytes: 512 * 1024,
  tailBytes: 512 * 1024,
  spillBytes: 16 * 1024 * 1024,
  spillDir: tmpdir(),
};

/** Chunks kept in the tail, whatever their size; bounds the memory of a program that writes single bytes. */
export const MAX_TAIL_CHUNKS = 50_000;

/** Chunks in a spill file, whatever their size: each takes about 100 bytes of memory. */
export const MAX_SPILL_CHUNKS = 50_000;

/** Bytes on their way to the spill file at which the process is paused. */
export const MAX_SPILL_IN_FLIGHT_BYTES = 4 * 1024 * 1024;

/** Bytes a follower may lag behind before the process is paused. Must stay below `tailBytes`. */
export const DEFAULT_FOLLOW_WINDOW_BYTES = 256 * 1024;

/** Bytes that one `write` takes; a longer input is written in several. */
export const MAX_WRITE_BYTES = 64 * 1024 * 1024;

/** Age in milliseconds from which a temporary name counts as left behind by a process that was killed. */
export const STALE_NAME_MS = 60_000;

/** Milliseconds between SIGTERM and SIGKILL. */
export const DEFAULT_TERMINATE_GRACE_MS = 2_000;

/** Size of a terminal when none is given. */
export const DEFAULT_TERMINAL_SIZE: TerminalSize = { rows: 24, cols: 80 };

/** Characters of a program's name in logs and spans. */
export const MAX_PROGRAM_NAME_LENGTH = 64;

/** Milliseconds after SIGKILL at which a group that is still there is reported as not gone. */
export const KILL_DEADLINE_MS = 5_000;

/** Arguments and environment of a process, bytes; beyond it Linux would answer E2BIG for one string or the sum. */
export const MAX_ARGUMENT_BYTES = 128 * 1024;
