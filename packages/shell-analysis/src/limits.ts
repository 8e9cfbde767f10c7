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

/** Most commands that are collected from one command. */
export const MAX_LITERAL_COMMANDS = 4_096;

/** Most words of a command that is searched for others. */
export const MAX_COMMAND_WORDS = 16_384;

/** Most UTF-16 units of all words of such a command together. */
export const MAX_COMMAND_LENGTH = 256 * 1024;

/** Most work for one command: words of commands that are visited, and half of the characters of scripts that are read. */
export const MAX_EFFORT = 200_000;

/** How much is read of a script that the parser rejects, in UTF-16 units. */
export const MAX_ROUGH_SCRIPT = 1024 * 1024;

/** Most words the braces of one word may expand to. */
export const MAX_BRACE_WORDS = 64;

/** Most UTF-16 units of these words. */
export const MAX_BRACE_LENGTH = 64 * 1024;

/** Longest known output of a command that is followed, in UTF-16 units. */
export const MAX_LITERAL_OUTPUT = 64 * 1024;

/** Most values of one variable that are tried. */
export const MAX_VARIABLE_VALUES = 8;

/** Longest value of a variable that is followed, in UTF-16 units. */
export const MAX_VALUE_LENGTH = 64 * 1024;

/** Most UTF-16 units of values of variables that are put into the words of one script. */
export const MAX_READ_LENGTH = 4 * 1024 * 1024;

/** Most places of one command that are guessed to begin another. */
export const MAX_GUESSES = 1_024;

/** Most words of a command that is guessed. */
export const MAX_GUESS_WORDS = 64;

/** Most commands that are guessed where the program is known only at run time. */
export const MAX_NAME_GUESSES = 32_768;

/** Most commands that are guessed in texts that other programs read. */
export const MAX_TEXT_GUESSES = 16_384;

/** Most words of commands that are compared with names of files which a script runs, over all of these. */
export const MAX_FILE_COMPARISONS = 200_000;

/** Most times that a script is read again with what its own substitutions and functions are known to print. */
export const MAX_ROUNDS = 3;

/** Most printed texts that are kept for a shell whose input is not known. */
export const MAX_TEXTS = 64;

/** Programs that are copied under other names, with arguments, that are guessed. */
export const MAX_COPY_GUESSES = 1_024;

/** Most words that options of one command may take as commands of their own, over all of these. */
export const MAX_REST_WORDS = 65_536;

/** Work of steps, in visits of words of commands: `MAX_EFFORT` bounds the sum. */
export const EFFORT = {
  /** To parse and walk an empty script. */
  script: 16,
  /** Of a script. */
  character: 1 / 2,
  /** Kept in words or their input: little, but variables may repeat long ones. */
  wordCharacter: 1 / 256,
  /** Of a text of another language, in which commands are guessed. */
  textCharacter: 1 / 16,
  /** Passed on to a script or a function. */
  variable: 1 / 2,
  /** Written by the script, and compared with an argument. */
  file: 1 / 16,
} as const;
