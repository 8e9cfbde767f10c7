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
