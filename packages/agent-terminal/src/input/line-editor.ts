import { HISTORY_ENTRIES } from "../limits.js";
import { Draft } from "./draft.js";
import type { Key } from "./keys.js";

/** Result of a key. */
export type EditorAction =
  | { readonly type: "edited" }
  | { readonly type: "submitted"; readonly text: string; shown: string };

/** Edits a text of one or several lines, with a history. */
export class LineEditor {
  readonly draft = new Draft();
  readonly #history: string[] = [];
  /** Index of the draft in the history; its length for a new text. */
  #at = 0;
  /** The new text, while a history entry is shown. */
  #kept = "";

  /** Adds a text to the history (↑). */
  remember(text: string): void {
    if (text.trim() !== "" && this.#history.at(-1) !== text) this.#history.push(text);
    if (this.#history.length > HISTORY_ENTRIES) this.#history.shift();
    this.#at = this.#history.length;
  }

  handle(key: Key): EditorAction {
    const { draft } = this;
    if ("text" in key) draft.insert(key.text);
    else if (key.name === "enter") return this.#enter();
    else if (key.name === "up") this.#up();
    else if (key.name === "down") this.#down();
    else EDITS[key.name]?.(draft);
    return EDITED;
  }

  /** Submits the text; after a trailing backslash it adds a line instead. */
  #enter(): EditorAction {
    const { draft } = this;
    if (draft.before === "\\" && draft.isAtEnd) {
      draft.remove(-1);
      draft.insert("\n");
      return EDITED;
    }
    const { text, shown } = draft;
    if (text.trim() === "") return EDITED;
    this.remember(text);
    draft.set("");
    return { type: "submitted", text, shown };
  }

  #up(): void {
    if (this.draft.moveLine(-1) || this.#at === 0) return;
    if (this.#at === this.#history.length) this.#kept = this.draft.text;
    this.#at -= 1;
    this.draft.set(this.#history[this.#at]!);
  }

  #down(): void {
    if (this.draft.moveLine(1) || this.#at >= this.#history.length) return;
    this.#at += 1;
    this.draft.set(this.#history[this.#at] ?? this.#kept);
  }
}

const EDITED: EditorAction = { type: "edited" };

const EDITS: Readonly<Partial<Record<Key["name"], (draft: Draft) => void>>> = {
  newline: (draft) => draft.insert("\n"),
  backspace: (draft) => draft.remove(-1),
  delete: (draft) => draft.remove(1),
  delete_word: (draft) => draft.remove(draft.toWord(-1)),
  delete_to_start: (draft) => draft.remove(draft.toLineStart),
  delete_to_end: (draft) => draft.remove(draft.toLineEnd),
  left: (draft) => draft.move(-1),
  right: (draft) => draft.move(1),
  word_left: (draft) => draft.move(draft.toWord(-1)),
  word_right: (draft) => draft.move(draft.toWord(1)),
  home: (draft) => draft.move(draft.toLineStart),
  end: (draft) => draft.move(draft.toLineEnd),
};
