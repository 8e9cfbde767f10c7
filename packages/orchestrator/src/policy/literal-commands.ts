import { EVALUATORS, POSIX_SHELLS, programName, WRAPPERS } from "./programs.js";
import { type ScriptSegment, scanWords } from "./script-words.js";

/** Commands that are spelled out somewhere in a command. */
export interface LiteralCommands {
  commands: string[][];
  /** False when a bound was hit: there may be more than was found. */
  complete: boolean;
}

/**
 * Everything in `argv` that looks like a command: inside scripts, behind wrappers such as `sudo` and `env`, in
 * pipelines, substitutions and loops. Restrictive decisions rest on this: finding too much only asks once more.
 */
export function literalCommands(argv: readonly string[]): LiteralCommands {
  const finder = new CommandFinder();
  finder.visit([...argv], 0);
  return { commands: finder.commands, complete: finder.complete };
}

class CommandFinder {
  readonly commands: string[][] = [];
  complete = true;
  #effort = 0;

  /** A command in the place of a command, and what it in turn would run. */
  visit(words: string[], depth: number): void {
    const command = withoutPrefixes(words);
    const [program, ...args] = command;
    if (program === undefined || !this.#spend(command.length, depth)) return;
    this.commands.push(command);
    if (program.includes("$(") || program.includes("`")) this.#scan(program, depth + 1);
    for (const arg of args) if (SUBSTITUTION.test(arg)) this.#scan(arg, depth + 1);
    const name = programName(program);
    if (POSIX_SHELLS.has(name)) for (const arg of args) this.#scan(arg, depth + 1);
    if (EVALUATORS.has(name)) this.#scan(args.join(" "), depth + 1);
    if (WRAPPERS.has(name)) this.#visitTails(args, depth);
  }

  #scan(script: string, depth: number): void {
    if (!this.#spend(Math.ceil(script.length / CHARACTERS_PER_WORD), depth)) return;
    const segments = scanWords(script);
    const before = this.commands.length;
    for (const segment of segments) this.visit(segment.words, depth);
    // What feeds a shell may be its script: then every word counts, wherever it stands.
    if (this.commands.slice(before).some(readsScript)) this.#visitAnywhere(segments, depth);
  }

  #visitAnywhere(segments: readonly ScriptSegment[], depth: number): void {
    for (const { words, targets } of segments) {
      this.#visitTails(words, depth);
      for (const text of [...words, ...targets]) if (/\s/.test(text)) this.#scan(text, depth + 1);
    }
  }

  /** A wrapper's own options cannot be told from the command it runs: the command may begin at any word. */
  #visitTails(words: readonly string[], depth: number): void {
    for (let from = 0; from < words.length && this.complete; from++) {
      if (/\s/.test(words[from] ?? "")) this.#scan(words[from] ?? "", depth + 1);
      this.visit(words.slice(from), depth + 1);
    }
  }

  #spend(words: number, depth: number): boolean {
    this.#effort += words;
    if (depth > MAX_DEPTH || this.#effort > MAX_EFFORT) this.complete = false;
    return this.complete;
  }
}

/** Nesting of scripts and wrappers that is looked into. */
const MAX_DEPTH = 64;
/** Words looked at for one command, repeated looks included. */
const MAX_EFFORT = 1_000_000;
/** What reading a script costs, beside its commands. */
const CHARACTERS_PER_WORD = 8;

const SUBSTITUTION = /\$\(|`|[<>]\(/;

function readsScript(command: readonly string[]): boolean {
  const name = programName(command[0] ?? "");
  return POSIX_SHELLS.has(name) || EVALUATORS.has(name);
}

/** Without assignments and reserved words in front. */
function withoutPrefixes(words: string[]): string[] {
  const first = words.findIndex((word) => !PREFIXES.has(word) && !/^[A-Za-z_]\w*\+?=/.test(word));
  return first === -1 ? [] : words.slice(first);
}

const PREFIXES: ReadonlySet<string> = new Set([
  ...["!", "{", "}", "then", "else", "elif", "do", "if", "while", "until", "-"],
]);
