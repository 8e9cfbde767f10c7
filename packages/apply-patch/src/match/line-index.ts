import { MAX_SEARCH_STEPS } from "../limits.js";
import { PatchError } from "../patch.js";
import { KEYS } from "./line-keys.js";

/** Finds sequences of lines in a file, by each of KEYS in turn. Lines are compared as numeric ids, computed on demand. */
export class LineIndex {
  readonly #lines: readonly string[];
  readonly #mark: string;
  readonly #numbered: { ids: Int32Array; known: ReadonlyMap<string, number> }[] = [];
  #steps = 0;

  /** `mark`: the file's byte order mark, ignored at the start of a searched line. */
  constructor(lines: readonly string[], mark = "") {
    this.#lines = lines;
    this.#mark = mark;
  }

  /**
   * Index of the first match at or after `from`; undefined for none. `isAtEnd`: the match must be at the end of the file.
   * @throws PatchError when the searches of this file exceed the step limit
   */
  find(sought: readonly string[], from: number, isAtEnd: boolean): number | undefined {
    if (sought.length > this.#lines.length - from) return undefined;
    for (let level = 0; level < KEYS.length; level += 1) {
      const found = this.#findAt(level, sought, isAtEnd ? this.#lines.length - sought.length : from);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  #findAt(level: number, sought: readonly string[], from: number): number | undefined {
    const { ids, known } = this.#numbers(level);
    const keyOf = KEYS[level]!;
    const pattern = new Int32Array(sought.length);
    for (const [index, line] of sought.entries()) {
      const isMarked = this.#mark !== "" && line.startsWith(this.#mark);
      const id = known.get(keyOf(isMarked ? line.slice(this.#mark.length) : line));
      if (id === undefined) return undefined;
      pattern[index] = id;
    }
    return this.#search(ids, pattern, from);
  }

  /** Knuth-Morris-Pratt, in linear time. */
  #search(ids: Int32Array, pattern: Int32Array, from: number): number | undefined {
    const fallback = getFallbacks(pattern);
    let matched = 0;
    for (let at = from; at < ids.length; at += 1) {
      while (matched > 0 && ids[at] !== pattern[matched]) matched = fallback[matched - 1]!;
      if (ids[at] === pattern[matched]) matched += 1;
      if (matched === pattern.length) {
        this.#spend(at - from + pattern.length);
        return at - pattern.length + 1;
      }
    }
    this.#spend(ids.length - from + pattern.length);
    return undefined;
  }

  #spend(steps: number): void {
    this.#steps += steps;
    if (this.#steps <= MAX_SEARCH_STEPS) return;
    const message = `finding its lines takes more than ${MAX_SEARCH_STEPS} steps: change it with fewer chunks at a time`;
    throw new PatchError({ message });
  }

  #numbers(level: number): { ids: Int32Array; known: ReadonlyMap<string, number> } {
    const made = this.#numbered[level];
    if (made !== undefined) return made;
    const known = new Map<string, number>();
    const keyOf = KEYS[level]!;
    const ids = Int32Array.from(this.#lines, (line) => {
      const key = keyOf(line);
      const id = known.get(key) ?? known.size;
      known.set(key, id);
      return id;
    });
    this.#numbered[level] = { ids, known };
    return { ids, known };
  }
}

/** Failure function of Knuth-Morris-Pratt. */
function getFallbacks(pattern: Int32Array): Int32Array {
  const fallbacks = new Int32Array(pattern.length);
  let length = 0;
  for (let at = 1; at < pattern.length; at += 1) {
    while (length > 0 && pattern[at] !== pattern[length]) length = fallbacks[length - 1]!;
    if (pattern[at] === pattern[length]) length += 1;
    fallbacks[at] = length;
  }
  return fallbacks;
}
