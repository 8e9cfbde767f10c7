import { programName } from "./programs.js";

/**
 * The plain commands of `[shell, -c | -lc, script]`: words that a shell would pass on exactly as they are. Null when
 * the command is anything else; it is opaque then. Permissive decisions rest on this, so in doubt the answer is null.
 *
 * Understands a script of one command, words of safe characters with single spaces between them.
 */
export function splitCommand(argv: readonly string[]): string[][] | null {
  const script = shellScript(argv);
  if (script === null) return null;
  const words = script.replace(/^[ \n]+|[ \n]+$/g, "").split(" ");
  const [first] = words;
  if (first === undefined || !words.every((word) => PLAIN_WORD.test(word))) return null;
  // An assignment runs nothing, `=name` is looked up by zsh, and a reserved word begins a statement.
  if (first.includes("=") || words.some((word) => word.startsWith("=")) || RESERVED.has(first)) return null;
  return /^[A-Za-z0-9_./]/.test(first) ? [words] : null;
}

/** The script of exactly `[shell, -c | -lc, script]`. */
export function shellScript(argv: readonly string[]): string | null {
  const [shell, flag, script] = argv;
  if (argv.length !== 3 || shell === undefined || script === undefined) return null;
  return SPLIT_SHELLS.has(programName(shell)) && (flag === "-lc" || flag === "-c") ? script : null;
}

const SPLIT_SHELLS: ReadonlySet<string> = new Set(["bash", "zsh", "sh"]);

/** Non-empty, and free of anything a shell expands. */
const PLAIN_WORD = /^[A-Za-z0-9_./:=@%+,-]+$/;

const RESERVED: ReadonlySet<string> = new Set([
  ...["if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac", "select", "in"],
  ...["function", "time", "coproc", "repeat", "foreach", "end", "nocorrect", "noglob"],
]);
