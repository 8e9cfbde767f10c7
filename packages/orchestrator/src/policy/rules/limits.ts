/** Largest rule file that is read, in bytes. */
export const MAX_RULE_FILE_BYTES = 1024 * 1024;

/** Most rule files one layer may hold. */
export const MAX_RULE_FILES_PER_LAYER = 256;

/** Most rules (after alternatives of the first token are expanded) one file may declare. */
export const MAX_RULES_PER_FILE = 20_000;

/** Most evaluation steps (expressions, statements, loop turns, visited elements) one file may take. */
export const MAX_STEPS = 5_000_000;

/** Most bytes the values made while one file is evaluated may add up to; nothing is given back before the end. */
export const MAX_ALLOCATED_BYTES = 64 * 1024 * 1024;

/** Deepest chain of function calls. */
export const MAX_CALL_DEPTH = 64;

/** Deepest nesting of one evaluation: expressions, statements and calls inside each other, or values inside values. */
export const MAX_EVALUATION_DEPTH = 1_500;

/** Deepest nesting of brackets and blocks in the text of a file. */
export const MAX_SYNTAX_DEPTH = 100;

/** Largest integer, in bits. */
export const MAX_INTEGER_BITS = 65_536;

/** Longest wait for the lock of the file that saved rules go to, in milliseconds. */
export const SAVE_LOCK_TIMEOUT_MS = 5_000;

/** Pause between two tries for that lock, in milliseconds. */
export const SAVE_LOCK_RETRY_MS = 20;

/** Age at which a lock whose owner cannot be asked (another host) counts as left behind, in milliseconds. */
export const SAVE_LOCK_STALE_MS = 30_000;

/** Ways to read a prefix that is to be saved: each option that may take a value doubles them. More counts as open. */
export const MAX_PREFIX_READINGS = 256;
