/** Most evaluation steps (expressions, statements, loop iterations, visited elements) of one file. */
export const MAX_STEPS = 5_000_000;

/** Most bytes of all values created while one file is evaluated; values that become garbage still count. */
export const MAX_ALLOCATED_BYTES = 64 * 1024 * 1024;

/** Deepest call stack, in functions of the file. */
export const MAX_CALL_DEPTH = 64;

/** Deepest nesting of one evaluation: of expressions, statements and calls, or of values. */
export const MAX_EVALUATION_DEPTH = 1_500;

/** Deepest nesting of brackets and blocks in the text of a file. */
export const MAX_SYNTAX_DEPTH = 100;

/** Largest integer, in bits. */
export const MAX_INTEGER_BITS = 65_536;
