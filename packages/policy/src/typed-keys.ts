import { MAX_KEY_MOVES, MAX_TYPED_LINE } from "./limits.js";

/** One key: an escape sequence, a character after ^V, or a character. */
const KEYS = /\x1b(?:\[[0-?]*[ -/]*[@-~]|O.|[\s\S])|\x16[\s\S]|[\s\S]/gu;

/** Keys of readline's default bindings by what they do; `^D` is read by the caller's choice. */
const ACTIONS: readonly [string, RegExp][] = [
  ["accept", /^[\r\n\x0f]$/],
  ["start", /^(?:\x01|\x1b\[(?:1~|7~|H)|\x1bOH)$/],
  ["end", /^(?:\x05|\x1b\[(?:4~|8~|F)|\x1bOF)$/],
  ["left", /^(?:\x02|\x1b[[O]D)$/],
  ["right", /^(?:\x06|\x1b[[O]C)$/],
  ["word-left", /^\x1b(?:b|\[(?:1;)?[35]D|Od)$/],
  ["word-right", /^\x1b(?:f|\[(?:1;)?[35]C|Oc)$/],
  ["erase", /^[\x7f\b]$/],
  ["delete", /^\x1b\[3~$/],
  ["kill-left", /^\x15$/],
  ["kill-right", /^\x0b$/],
  ["kill-blank-word", /^\x17$/],
  ["kill-word-left", /^\x1b[\x7f\b]$/],
  ["kill-word-right", /^\x1bd$/],
  ["yank", /^\x19$/],
  ["transpose", /^\x14$/],
  ["discard", /^\x03$/],
  ["older", /^(?:\x10|\x1b[[O]A)$/],
  ["newer", /^(?:\x0e|\x1b[[O]B)$/],
  ["search", /^\x12$/],
  ["last-word", /^\x1b[._]$/],
];

/** Keys whose effect on a line is known whatever the shell did before: moves, what erases, ends or discards a line, signals, `^L`, a paste. */
const FOLLOWED =
  /^(?:[\r\n\x04\x03\x0c\x1a\x1c\x01\x05\x02\x06\x7f\b\x15\x0b\x17\x14]|\x1b[bfd\x7f\b]|\x1b[[O][CDHF]|\x1b\[3~|\x1b\[20[01]~|\x16[^\x00-\x1f\x7f])$/;

const isText = (key: string): boolean => !/^[\x00-\x08\x0a-\x1f\x7f]/.test(key);

/**
 * The first key, of those that end after `from`, whose effect is not followed: completion, history, macros, undo, numeric arguments, what
 * changes case or words, and whatever else is not on the list of known ones. Undefined for none.
 */
export function findUnfollowedKey(text: string, from = 0): string | undefined {
  for (const { 0: key, index } of text.matchAll(KEYS)) {
    if (index + key.length > from && (key === "\t" || !isText(key)) && !FOLLOWED.test(key)) return key;
  }
  return undefined;
}

/**
 * The lines that a shell gets from `text`, as readline's default keys edit and recall them; `before` was typed earlier.
 * `deletes`: ^D removes the next character of a line instead of ending it. Undefined beyond `MAX_KEY_MOVES`.
 */
export function applyKeys(text: string, before: string, deletes: boolean): string | undefined {
  const line = new EditedLine();
  let from: number | undefined;
  for (const { 0: key, index } of (before + text).matchAll(KEYS)) {
    if (from === undefined && index >= before.length) from = line.accepted.length;
    line.press(key, deletes);
    if (line.moves > MAX_KEY_MOVES || line.length > MAX_TYPED_LINE) return undefined;
  }
  const rest = text === "" ? "" : line.text;
  return [...line.accepted.slice(from ?? line.accepted.length).map((one) => `${one}\n`), rest].join("");
}

/** A line with a cursor, what was cut out of it, and the lines before it. */
class EditedLine {
  readonly accepted: string[] = [];
  /** Characters that were moved or copied. */
  moves = 0;
  /** Characters before the cursor, and those after it in reverse order. */
  #left: string[] = [];
  #right: string[] = [];
  #killed: string[] = [];
  /** How many lines back the recalled one is. */
  #back = 0;
  /** What is searched for in earlier lines. */
  #search: string | undefined;

  get text(): string {
    return this.#left.join("") + [...this.#right].reverse().join("");
  }

  get length(): number {
    return this.#left.length + this.#right.length;
  }

  press(key: string, deletes: boolean): void {
    if (this.#search !== undefined && isText(key)) {
      this.#search += key;
      return;
    }
    if (this.#search !== undefined && /^[\x7f\b]$/.test(key)) {
      this.#search = this.#search.slice(0, -1);
      return;
    }
    if (this.#search !== undefined) this.#endSearch(this.#search);
    if (key === "\x04") this.#act(deletes && this.length > 0 ? "delete" : "accept");
    else if (isText(key)) this.#left.push(key);
    else if (key.startsWith("\x16")) this.#left.push(...key.slice(1));
    else this.#act(ACTIONS.find(([, pattern]) => pattern.test(key))?.[0]);
  }

  #act(action: string | undefined): void {
    if (action === "accept") this.#accept();
    else if (action === "start") this.#goLeft(() => true);
    else if (action === "end") this.#goRight(() => true);
    else if (action === "left") this.#goLeft((_, count) => count < 1);
    else if (action === "right") this.#goRight((_, count) => count < 1);
    else if (action === "word-left") this.#goLeft(inWord());
    else if (action === "word-right") this.#goRight(inWord());
    else if (action === "erase") this.#left.pop();
    else if (action === "delete") this.#right.pop();
    else if (action === "kill-left") this.#cutLeft(() => true);
    else if (action === "kill-blank-word") this.#cutLeft(inWord(/\S/));
    else if (action === "kill-word-left") this.#cutLeft(inWord());
    else if (action === "kill-right") this.#cutRight(() => true);
    else if (action === "kill-word-right") this.#cutRight(inWord());
    else if (action === "yank") this.#insert(this.#killed);
    else if (action === "transpose") this.#transpose();
    else if (action === "discard") this.#show("");
    else if (action === "older") this.#recall(this.#back + 1);
    else if (action === "newer") this.#recall(this.#back - 1);
    else if (action === "search") this.#search = "";
    else if (action === "last-word") this.#insertLastWord(this.accepted.at(-1) ?? "");
  }

  #insertLastWord(line: string): void {
    this.moves += line.length;
    this.#insert([...(/(?<!\S)\S+$/.exec(line)?.[0] ?? "")]);
  }

  #accept(): void {
    this.accepted.push(this.text);
    this.#show("");
    this.#back = 0;
  }

  #goLeft(test: KeyTest): void {
    const count = countWhile(this.#left, test);
    for (let moved = 0; moved < count; moved++) this.#right.push(this.#left.pop() ?? "");
    this.moves += count;
  }

  #goRight(test: KeyTest): void {
    const count = countWhile(this.#right, test);
    for (let moved = 0; moved < count; moved++) this.#left.push(this.#right.pop() ?? "");
    this.moves += count;
  }

  #cutLeft(test: KeyTest): void {
    const count = countWhile(this.#left, test);
    if (count > 0) this.#killed = this.#left.splice(-count);
  }

  #cutRight(test: KeyTest): void {
    const count = countWhile(this.#right, test);
    if (count > 0) this.#killed = this.#right.splice(-count).reverse();
  }

  #insert(characters: readonly string[]): void {
    this.moves += characters.length;
    for (const one of characters) this.#left.push(one);
  }

  #transpose(): void {
    if (this.#right.length > 0) this.#left.push(this.#right.pop() ?? "");
    const [last, previous] = [this.#left.pop(), this.#left.pop()];
    this.#left.push(...[last, previous].filter((one) => one !== undefined));
  }

  #recall(back: number): void {
    this.#back = Math.max(0, Math.min(back, this.accepted.length));
    this.#show(this.#back === 0 ? "" : (this.accepted.at(-this.#back) ?? ""));
  }

  #endSearch(wanted: string): void {
    this.#search = undefined;
    const found = this.accepted.findLast((one) => one.includes(wanted));
    this.moves += this.accepted.length;
    // Without a known line the text itself is what remains to be read.
    this.#show(found ?? wanted);
    if (found !== undefined) this.#goLeft((_, count) => count < [...found.slice(found.lastIndexOf(wanted))].length);
  }

  #show(text: string): void {
    this.#left = [...text];
    this.#right = [];
    this.moves += text.length;
  }
}

/** Whether the next character, away from the cursor, is moved as well; `count`: how many are. */
type KeyTest = (character: string, count: number) => boolean;

/** What is not of a word, then a word. */
function inWord(part = /[\p{L}\p{N}]/u): KeyTest {
  let hasBegun = false;
  return (character) => {
    const isPart = part.test(character);
    const goesOn = isPart || !hasBegun;
    hasBegun ||= isPart;
    return goesOn;
  };
}

function countWhile(stack: readonly string[], test: KeyTest): number {
  let count = 0;
  while (count < stack.length && test(stack[stack.length - 1 - count] ?? "", count)) count += 1;
  return count;
}
