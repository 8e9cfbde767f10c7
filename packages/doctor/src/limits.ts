/** Milliseconds that one check may take. */
export const CHECK_MS = 20_000;

/** Milliseconds that one program started by a check may take. */
export const PROGRAM_MS = 10_000;

/** Milliseconds after the end of a program in which its output may still arrive. */
export const OUTPUT_MS = 500;

/** Bytes of output of such a program that are read. */
export const MAX_OUTPUT_BYTES = 64 * 1024;

/** Start of a login shell, in milliseconds, above which there is a warning: each command with a login shell pays it. */
export const SLOW_LOGIN_MS = 500;

/** Limits of open files for a warning and for a problem; a session takes about five. */
export const FEW_FILES = 1024;
export const TOO_FEW_FILES = 128;

/** Limits of processes of the user for a warning and for a problem. */
export const FEW_PROCESSES = 512;
export const TOO_FEW_PROCESSES = 64;

/** Free terminals below which there is a warning. */
export const FEW_TERMINALS = 64;

/** inotify watches and instances of the user below which there is a warning. */
export const FEW_WATCHES = 8192;
export const FEW_WATCH_INSTANCES = 64;

/** Free bytes where output is spilled, for a warning (64 sessions of 16 MiB) and for a problem (one session). */
export const LITTLE_SPACE = 1024 * 1024 * 1024;
export const TOO_LITTLE_SPACE = 16 * 1024 * 1024;

/** Most seconds between the clock of a file system and that of the host. */
export const CLOCK_SKEW_S = 5;
