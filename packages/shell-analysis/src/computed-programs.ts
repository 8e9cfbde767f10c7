import { MAX_GUESS_WORDS, MAX_NAME_GUESSES } from "./limits.js";

/** Commands whose program is known only at run time: `$(basename /opt/x) y`, `${BASH_REMATCH[1]} y`. */
export class ComputedPrograms {
  /** There would be more guesses than `MAX_NAME_GUESSES`. */
  isOver = false;
  private readonly args = new Map<string, readonly string[]>();

  add(args: readonly string[]): void {
    const words = args.slice(0, MAX_GUESS_WORDS);
    this.args.set(JSON.stringify(words), words);
  }

  /** Each of the commands with every name that is spelled out in `texts`. */
  list(texts: readonly string[]): string[][] {
    if (this.args.size === 0) return [];
    const names = new Set(texts.flatMap(listNames));
    const length = [...this.args.values()].flat().reduce((sum, word) => sum + word.length, 0);
    this.isOver = names.size * Math.max(this.args.size, length / GUESS_LENGTH) > MAX_NAME_GUESSES;
    if (this.isOver) return [];
    return [...names].flatMap((name) => [...this.args.values()].map((args) => [name, ...args]));
  }
}

/** UTF-16 units of the arguments of an ordinary guess; longer ones count as several. */
const GUESS_LENGTH = 64;

/** Words, with and without the dots and dashes in them. */
function listNames(text: string): string[] {
  const whole = text.match(/[\p{L}\p{N}_]+(?:[.+-]+[\p{L}\p{N}_]+)*/gu) ?? [];
  return [...whole, ...text.split(/[^\p{L}\p{N}_]+/u)].filter((word) => /\p{L}/u.test(word));
}

const EVALUATING: ReadonlySet<string> = new Set(
  "let test [ printf read declare typeset local export readonly unset mapfile readarray getopts wait shift return exit integer float".split(
    " ",
  ),
);

/** Builtins that run a substitution in a subscript: `test -v 'a[$(…)]'`. */
export const isEvaluated = ([program = ""]: readonly string[]): boolean => EVALUATING.has(program);
