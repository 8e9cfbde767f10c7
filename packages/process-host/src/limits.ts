/** Bytes of disposed processes after which garbage is collected, and what each counts for besides its output. */
export const RECLAIM_BYTES = 8 * 1024 * 1024;
export const FORGOTTEN_PROCESS_BYTES = 2 * 1024;

/** Delay of the collection, and the shortest interval between two collections, milliseconds. */
export const RECLAIM_DELAY_MS = 1_000;
export const RECLAIM_PAUSE_MS = 10_000;

/** Rounds in which a family is listed and killed while new processes appear in it. */
export const MAX_KILL_ROUNDS = 64;

/** Processes and threads started since the first one of a family up to which only those are scanned, and not all of the host. */
export const MAX_RECENT_PIDS = 1_024;

/** Processes of a family that had ended when they were inspected, after which a scan stops: it would be too slow for them. */
export const MAX_MISSED = 64;

/** Milliseconds of a scan after which this process does other work first. */
export const SCAN_SLICE_MS = 0.25;

/** Milliseconds for which it is known how many processes the host has started, when some are to end and when one starts. */
export const PID_ROUND_CHECK_MS = 100;
export const PID_ROUND_REFRESH_MS = 10_000;

/** Scans of the processes started since the last full scan, and the most pids in one such scan. */
export const MAX_LATER_SCANS = 64;
export const MAX_LATER_PIDS = 4_096;

/**
 * For processes that start their successor and end: how many of the newest pids are checked at a time, for how many
 * milliseconds at most, and how many checks in a row must find none; so many are made in any case.
 */
export const KILL_NEWEST_PIDS = 64;
export const KILL_NEWEST_MS = 20;
export const KILL_NEWEST_MISSES = 16;

/** Processes of a family that have ended, among the newest, from which on these are killed before anything is listed. */
export const MIN_NEWEST_ENDED = 8;

/** Processes that a termination receipt names: at most as many within the group as outside of it. */
export const MAX_LISTED_PROCESSES = 1_000;

/** Threads of one process whose children are listed. */
export const MAX_SCANNED_THREADS = 256;

/** Ancestors of a process that are searched for the one that created its namespace. */
export const MAX_ANCESTORS = 1_024;

/** Processes of a session, threads of each and descriptors of one call that are inspected for a wait for input. */
export const MAX_INSPECTED_PROCESSES = 256;
export const MAX_INSPECTED_THREADS = 64;
export const MAX_POLLED_DESCRIPTORS = 1024;

/** Milliseconds that the exit of a failed sandboxed command waits for its last output, which may name what was refused. The figure is Codex's. */
export const DENIAL_OUTPUT_MS = 20;

/** Bytes at the end of the output that are searched for errors. */
export const DENIAL_OUTPUT_BYTES = 64 * 1024;

/** Bytes of a script that name its interpreter; the figure is Linux's. */
export const MAX_SHEBANG_BYTES = 256;

/** How long a network of a session is kept without a process, milliseconds: making one takes longer than joining it. */
export const NETWORK_IDLE_MS = 60_000;
/** Addresses and ports of one network at which hosts are reached by their names. */
export const MAX_NETWORK_PLACES = 256;

/** Bytes of a secret of a route. */
export const MAX_SECRET_BYTES = 16 * 1024;
/** Milliseconds for which the secret of a route is used again, and within which a program should print it. */
export const SECRET_FOR_MS = 60_000;
export const SECRET_COMMAND_MS = 10_000;
