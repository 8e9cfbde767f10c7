import { tmpdir } from "node:os";
import type { TerminalSize } from "@codex/executor-protocol";

/** Retention of one process's output, bytes. */
export interface OutputLogLimits {
  /** Bytes of the beginning that are kept in memory. */
  headBytes: number;
  /** Bytes of the end that are kept in memory. */
  tailBytes: number;
  /** Size of the file for output evicted from memory; 0 for none. */
  spillBytes: number;
  /** Directory of the spill file. */
  spillDir: string;
  /**
   * The memory of an evicted chunk is reused once all followers, holds and pins have passed it. Followers must not use the bytes of
   * a chunk after they ask for the next one.
   */
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

/** Bytes queued for the spill file at which the process is paused. */
export const MAX_SPILL_IN_FLIGHT_BYTES = 4 * 1024 * 1024;

/** Bytes a follower may lag behind before the process is paused. Must stay below `tailBytes`. */
export const DEFAULT_FOLLOW_WINDOW_BYTES = 256 * 1024;

/** Evicted bytes of one log that wait until their memory can be reused; older ones are left to the garbage collector. */
export const MAX_LENT_BYTES = 1536 * 1024;

/** Most bytes of one `write`; longer input takes several writes. */
export const MAX_WRITE_BYTES = 64 * 1024 * 1024;

/** Age in milliseconds from which a temporary file is assumed to be left by a process that was killed. */
export const STALE_NAME_MS = 60_000;

/** Milliseconds between SIGTERM and SIGKILL. */
export const DEFAULT_TERMINATE_GRACE_MS = 2_000;

/** Size of a terminal when none is given. */
export const DEFAULT_TERMINAL_SIZE: TerminalSize = { rows: 24, cols: 80 };

/** Characters of a program's name in logs and spans. */
export const MAX_PROGRAM_NAME_LENGTH = 64;

/** Milliseconds after SIGKILL after which a group that still exists is reported as not gone. */
export const KILL_DEADLINE_MS = 5_000;

/** Limit of Linux for one argument or variable, bytes; with a longer one `execve` fails with E2BIG. */
export const MAX_ARGUMENT_BYTES = 128 * 1024;

/** Kinds of denied connections that one process is told of. */
export const MAX_NETWORK_DENIALS = 64;
/** Hosts and ports about which one process remembers an answer. */
export const MAX_HOST_VERDICTS = 1_024;
