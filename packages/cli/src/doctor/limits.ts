/** Milliseconds that one check may take. */
export const CHECK_MS = 20_000;

/** Milliseconds that one program started by a check may take. */
export const PROGRAM_MS = 10_000;

/** Milliseconds after its end in which its output may still come. */
export const OUTPUT_MS = 500;

/** Bytes of output of such a program that are looked at. */
export const MAX_OUTPUT_BYTES = 64 * 1024;

/** Milliseconds of a login shell's start that are worth a word: each command of a model that asks for one pays them. */
export const SLOW_LOGIN_MS = 500;

/** Open files below which few sessions fit (each takes about five), and below which hardly any does. */
export const FEW_FILES = 1024;
export const TOO_FEW_FILES = 128;

/** The same for processes of the user. */
export const FEW_PROCESSES = 512;
export const TOO_FEW_PROCESSES = 64;

/** Terminals that are free. */
export const FEW_TERMINALS = 64;

/** inotify watches and instances of the user. */
export const FEW_WATCHES = 8192;
export const FEW_WATCH_INSTANCES = 64;

/** Bytes that are free where output is spilled: 64 sessions of 16 MiB, and one. */
export const LITTLE_SPACE = 1024 * 1024 * 1024;
export const TOO_LITTLE_SPACE = 16 * 1024 * 1024;

/** Seconds that the clock of a file system may be off. */
export const CLOCK_SKEW_S = 5;
