/** One stretch of a script between operators. */
export interface ScriptSegment {
  /** Words with quotes and backslashes taken off, redirections left out. */
  words: string[];
  /** Targets of redirections and here-strings. */
  targets: string[];
}

/**
 * A rough reading of a script, for finding what might be run in it: operators, brackets, substitutions and new lines
 * separate, quotes join. It never fails; where it is unsure it separates, so that more is found and not less.
 */
export function scanWords(script: string): ScriptSegment[] {
  return new WordScanner(script).scan();
}

class WordScanner {
  readonly #text: string;
  #at = 0;
  #segments: ScriptSegment[] = [];
  #segment: ScriptSegment = { words: [], targets: [] };
  #word: string | undefined;
  #isTarget = false;

  constructor(script: string) {
    // A line continued, and the separator that is spelled as a variable.
    this.#text = script.replace(/\\\r?\n/g, "").replace(/\$\{IFS[^}]*\}|\$IFS\b/g, " ");
  }

  scan(): ScriptSegment[] {
    while (this.#at < this.#text.length) this.#step(this.#text.charAt(this.#at++));
    this.#endSegment();
    return this.#segments;
  }

  #step(char: string): void {
    if (char === "\\") this.#append(this.#text.charAt(this.#at++));
    else if (char === "'") this.#append(this.#until("'", false));
    else if (char === '"') this.#append(this.#until('"', true));
    else if (char === "$" && this.#text.charAt(this.#at) === "'") this.#appendAnsi();
    else if (char === " " || char === "\t" || char === "\r") this.#endWord();
    else if (char === "<" || char === ">" || (char === "&" && this.#text.charAt(this.#at) === ">")) this.#redirect();
    else if (SEPARATORS.has(char)) this.#endSegment();
    else this.#append(char);
  }

  #append(text: string): void {
    this.#word = (this.#word ?? "") + text;
  }

  /** The text up to a closing quote, or to the end when there is none. */
  #until(quote: string, escapes: boolean): string {
    let text = "";
    while (this.#at < this.#text.length) {
      const char = this.#text.charAt(this.#at++);
      if (char === quote) return text;
      if (escapes && char === "\\" && '"\\$`'.includes(this.#text.charAt(this.#at))) {
        text += this.#text.charAt(this.#at++);
      } else {
        text += char;
      }
    }
    return text;
  }

  /** `$'…'`: the escapes that spell a letter. */
  #appendAnsi(): void {
    this.#at++;
    const end = this.#text.slice(this.#at).search(/(?<!\\)'/);
    const raw = end === -1 ? this.#text.slice(this.#at) : this.#text.slice(this.#at, this.#at + end);
    this.#at += raw.length + 1;
    this.#append(
      raw
        .replace(/\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|([0-7]{1,3}))/g, (_all, hex, unicode, octal) =>
          String.fromCodePoint(octal === undefined ? Number.parseInt(hex ?? unicode, 16) : Number.parseInt(octal, 8)),
        )
        .replace(/\\n|\\t/g, " ")
        .replace(/\\(.)/g, "$1"),
    );
  }

  /** The next word is a target, unless a bracket follows: a process substitution runs what is in it. */
  #redirect(): void {
    if (this.#word !== undefined && /^\d+$/.test(this.#word)) this.#word = undefined;
    this.#endWord();
    while (this.#at < this.#text.length && "<>&|".includes(this.#text.charAt(this.#at))) this.#at++;
    this.#isTarget = this.#text.charAt(this.#at) !== "(";
  }

  #endWord(): void {
    if (this.#word === undefined) return;
    const word = this.#word;
    this.#word = undefined;
    if (this.#isTarget) this.#segment.targets.push(word);
    else if (/^\{.*,.*\}$/s.test(word)) this.#segment.words.push(...word.slice(1, -1).split(","));
    else this.#segment.words.push(word);
    this.#isTarget = false;
  }

  #endSegment(): void {
    this.#endWord();
    this.#isTarget = false;
    if (this.#segment.words.length + this.#segment.targets.length > 0) this.#segments.push(this.#segment);
    this.#segment = { words: [], targets: [] };
  }
}

const SEPARATORS: ReadonlySet<string> = new Set([";", "&", "|", "\n", "(", ")", "`"]);
