/** Most bytes of the output, and of the error output, of one hook; one that writes more has failed. */
export const MAX_OUTPUT_BYTES = 1024 * 1024;

/** Most characters of what one hook tells the model; more is left out, and said to be. */
export const MAX_CONTEXT_CHARS = 64 * 1024;

/** Milliseconds that output is waited for after a hook has exited: programs that it leaves behind may hold its pipes open. */
export const AFTER_EXIT_MS = 500;

/** Hooks that run at once in the background; further ones are left out, and reported. */
export const MAX_ASYNC = 16;

/** Longest time limit of a hook, seconds. */
export const MAX_TIMEOUT_S = 86_400;

/** Most hooks of one event in one file. */
export const MAX_HOOKS = 256;
