import { tmpdir } from "node:os";
import type { TerminalSize } from "@codex/executor-protocol";
import type { OutputLogLimits } from "./exec-backend.js";

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

/** Memory that one chunk of output lies in, bytes; the largest chunk of a pipe or terminal. */
export const CHUNK_SLAB_BYTES = 64 * 1024;

/** Terminals of a host that are read on in one turn of the event loop when there is more than one read gives. */
export const SOURCES_PER_TURN = 4;

/** Terminals of a host that are read on the thread pool at once; it has four threads. */
export const MAX_FLOODS = 4;

/** Slabs of a host that are kept to be used again. */
export const MAX_FREE_SLABS = 16;

/** Memory of forgotten processes after which garbage is collected, bytes, and how it is counted for one without output. */
export const RECLAIM_BYTES = 8 * 1024 * 1024;
export const FORGOTTEN_PROCESS_BYTES = 2 * 1024;

/** Milliseconds from then until it is, and at least between two such collections. */
export const RECLAIM_DELAY_MS = 1_000;
export const RECLAIM_PAUSE_MS = 10_000;

/** Bytes that one `write` takes; a longer input is written in several. */
export const MAX_WRITE_BYTES = 64 * 1024 * 1024;

/** Milliseconds after which the name of a file that should have none was left behind by a process that was killed. */
export const STALE_NAME_MS = 60_000;

/** Milliseconds between SIGTERM and SIGKILL. */
export const DEFAULT_TERMINATE_GRACE_MS = 2_000;

/** Milliseconds after SIGKILL at which a group that is still there is reported as not gone. */
export const KILL_DEADLINE_MS = 5_000;

/** Times that a family is looked at and killed in a row, while new processes turn up in it. */
export const MAX_KILL_ROUNDS = 64;

/** Looks at all processes that find nothing, while very many come, until a family counts as gone. */
export const MAX_EMPTY_LOOKS = 16;

/** Looks at those that came since a look at all, and how many they may be. */
export const MAX_LATER_LOOKS = 64;
export const MAX_LATER_PIDS = 4_096;

/**
 * Processes that start the next one and end are killed by looking at this many of the newest numbers, for so many milliseconds
 * at most, and until so many looks in a row found none.
 */
export const KILL_NEWEST_PIDS = 64;
export const KILL_NEWEST_MS = 20;
export const KILL_NEWEST_MISSES = 16;

/** Processes that a termination receipt names, of the group and outside of it each. */
export const MAX_LISTED_PROCESSES = 1_000;

/** Threads of one process whose children are looked at. */
export const MAX_THREADS_LOOKED_AT = 256;

/** Ancestors of a process that are looked at for who holds its namespace. */
export const MAX_ANCESTORS = 1_024;

/** Arguments and environment of a process, bytes; beyond it Linux would answer E2BIG for one string or the sum. */
export const MAX_ARGUMENT_BYTES = 128 * 1024;

/** Size of a terminal that is asked for without one. */
export const DEFAULT_TERMINAL_SIZE: TerminalSize = { rows: 24, cols: 80 };

/** Processes of a session, threads of each and descriptors of one call that are looked at for who waits for input. */
export const MAX_LOOKED_AT_PROCESSES = 256;
export const MAX_LOOKED_AT_THREADS = 64;
export const MAX_POLLED_DESCRIPTORS = 1024;

/** Milliseconds that the exit of a failed command in a sandbox waits for its last output, which tells what was refused. The figure is Codex's. */
export const DENIAL_OUTPUT_MS = 20;

/** Bytes from the end of the output in which errors are looked for. */
export const DENIAL_OUTPUT_BYTES = 64 * 1024;

/** Characters of a program's name in logs and spans. */
export const MAX_PROGRAM_NAME_LENGTH = 64;
