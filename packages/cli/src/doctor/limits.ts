/** Milliseconds that one check may take. */
export const CHECK_MS = 20_000;

/** Milliseconds that one program started by a check may take. */
export const PROGRAM_MS = 10_000;

/** Milliseconds after the end of a program in which its output may still arrive. */
export const OUTPUT_MS = 500;

/** Bytes of output of such a program that are read. */
export const MAX_OUTPUT_BYTES = 64 * 1024;

/** Start time of a login shell, milliseconds, above which there is a warning: it delays each command with a login shell. */
export const SLOW_LOGIN_MS = 500;

/** Limits of open files below which there is a warning or a problem; a session needs about five. */
export const FEW_FILES = 1024;
export const TOO_FEW_FILES = 128;

/** Limits of processes of the user below which there is a warning or a problem. */
export const FEW_PROCESSES = 512;
export const TOO_FEW_PROCESSES = 64;

/** Free terminals below which there is a warning. */
export const FEW_TERMINALS = 64;

/** inotify watches and instances of the user below which there is a warning. */
export const FEW_WATCHES = 8192;
export const FEW_WATCH_INSTANCES = 64;

/** Free bytes for spilled output below which there is a warning (64 sessions of 16 MiB) or a problem (one session). */
export const LITTLE_SPACE = 1024 * 1024 * 1024;
export const TOO_LITTLE_SPACE = 16 * 1024 * 1024;

/** Most seconds of difference between the clock of a file system and that of the host. */
export const CLOCK_SKEW_S = 5;
