/** Memory of forgotten processes after which garbage is collected, bytes, and how it is counted for one without output. */
export const RECLAIM_BYTES = 8 * 1024 * 1024;
export const FORGOTTEN_PROCESS_BYTES = 2 * 1024;

/** Milliseconds from then until it is, and at least between two such collections. */
export const RECLAIM_DELAY_MS = 1_000;
export const RECLAIM_PAUSE_MS = 10_000;

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

/** Processes of a session, threads of each and descriptors of one call that are looked at for who waits for input. */
export const MAX_LOOKED_AT_PROCESSES = 256;
export const MAX_LOOKED_AT_THREADS = 64;
export const MAX_POLLED_DESCRIPTORS = 1024;

/** Milliseconds that the exit of a failed command in a sandbox waits for its last output, which tells what was refused. The figure is Codex's. */
export const DENIAL_OUTPUT_MS = 20;

/** Bytes from the end of the output in which errors are looked for. */
export const DENIAL_OUTPUT_BYTES = 64 * 1024;
