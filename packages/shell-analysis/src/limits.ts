/** Largest script that is parsed, in bytes. A single argument of a Linux process is at most twice as long. */
export const MAX_SCRIPT_BYTES = 64 * 1024;

/** Most NUL characters of a script that is parsed. */
export const MAX_SCRIPT_NULS = 1_000;

/** Pipes (`|`, `|&`) in a script, beyond which it is not parsed. */
export const MAX_SCRIPT_PIPES = 1_000;

/** Most time to parse one script, in milliseconds; ordinary scripts take well under one. */
export const MAX_PARSE_MS = 250;

/** Most nodes of one syntax tree. */
export const MAX_TREE_NODES = 50_000;

/** Deepest nesting of one syntax tree. */
export const MAX_TREE_DEPTH = 256;

/** Deepest nesting that is followed, of syntax and of commands in the arguments and scripts of other commands. */
export const MAX_NESTING = 400;

/** Most commands that are collected from one command, guesses included. */
export const MAX_LITERAL_COMMANDS = 16_384;

/** Most words of a command that is searched for others. */
export const MAX_COMMAND_WORDS = 16_384;

/** Most UTF-16 units of all words of such a command together. */
export const MAX_COMMAND_LENGTH = 256 * 1024;

/** Most work for one command, in UTF-16 units of the scripts and words that are read. */
export const MAX_EFFORT = 4 * 1024 * 1024;

/** Work of each UTF-16 unit of a script that is parsed. */
export const SCRIPT_EFFORT = 8;

/** What a script or a command costs beside its length, in the same unit. */
export const BASE_EFFORT = 64;

/** How much is read of a script that the parser rejects, in UTF-16 units. */
export const MAX_ROUGH_SCRIPT = 1024 * 1024;

/** Most words the braces of one word may expand to. */
export const MAX_BRACE_WORDS = 64;

/** Most UTF-16 units of these words. */
export const MAX_BRACE_LENGTH = 64 * 1024;

/** Longest output of a command, or text of a file, that is followed, in UTF-16 units. */
export const MAX_LITERAL_OUTPUT = 64 * 1024;

/** Most values of one variable that are tried. */
export const MAX_VARIABLE_VALUES = 8;

/** Longest value of a variable that is followed, in UTF-16 units. */
export const MAX_VALUE_LENGTH = 4 * 1024;

/** Most places of one command that are guessed to begin another. */
export const MAX_GUESSES = 1_024;

/** Most words of a command that is guessed. */
export const MAX_GUESS_WORDS = 64;
