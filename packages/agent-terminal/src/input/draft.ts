import { visibleText } from "@codex/policy/display";
import { CHIP_CHARS, CHIP_LINES } from "../limits.js";
import { columnsOf, splitCharacters } from "../text/columns.js";

/** A character, or a long paste that is edited as a unit. */
interface Cell {
  /** Text that is submitted. */
  readonly text: string;
  readonly shown: string;
}

/** Text being edited. The cursor is between two cells. */
export class Draft {
  #cells: Cell[] = [];
  #cursor = 0;

  get text(): string {
    return this.#cells.map(({ text }) => text).join("");
  }

  /** Text for display; a long paste is shown by its size. */
  get shown(): string {
    return this.#cells.map(({ shown }) => shown).join("");
  }

  get isEmpty(): boolean {
    return this.#cells.length === 0;
  }

  /** Replaces the text and moves the cursor to its end. */
  set(text: string): void {
    this.#cells = toCells(text);
    this.#cursor = this.#cells.length;
  }

  insert(text: string): void {
    const cells = toCells(text);
    this.#cells = [...this.#cells.slice(0, this.#cursor), ...cells, ...this.#cells.slice(this.#cursor)];
    this.#cursor += cells.length;
  }

  /** Removes cells after the cursor; negative: before it. */
  remove(count: number): void {
    const to = clamp(this.#cursor + count, this.#cells.length);
    const [from, end] = [Math.min(this.#cursor, to), Math.max(this.#cursor, to)];
    this.#cells = [...this.#cells.slice(0, from), ...this.#cells.slice(end)];
    this.#cursor = from;
  }

  move(count: number): void {
    this.#cursor = clamp(this.#cursor + count, this.#cells.length);
  }

  /** Offset from the cursor to the start of its line, at most 0. */
  get toLineStart(): number {
    const at = this.#cells.findLastIndex(({ text }, index) => index < this.#cursor && text === "\n");
    return at + 1 - this.#cursor;
  }

  /** Offset from the cursor to the end of its line. */
  get toLineEnd(): number {
    const at = this.#cells.findIndex(({ text }, index) => index >= this.#cursor && text === "\n");
    return (at === -1 ? this.#cells.length : at) - this.#cursor;
  }

  /** Offset from the cursor to the next word boundary; `direction` -1: to the left. */
  toWord(direction: 1 | -1): number {
    const isBlank = (at: number) => /^\s$/.test(this.#cells[at]?.text ?? "");
    const isInside = (at: number) => at >= 0 && at < this.#cells.length;
    let at = direction === 1 ? this.#cursor : this.#cursor - 1;
    while (isInside(at) && isBlank(at)) at += direction;
    while (isInside(at) && !isBlank(at)) at += direction;
    return direction === 1 ? at - this.#cursor : at + 1 - this.#cursor;
  }

  /** Moves to the line above (-1) or below, keeping the column if possible. False when there is none. */
  moveLine(direction: 1 | -1): boolean {
    const column = -this.toLineStart;
    if (direction === -1) {
      if (this.#cursor - column === 0) return false;
      this.move(-column - 1);
      this.move(this.toLineStart);
    } else {
      if (this.#cursor + this.toLineEnd === this.#cells.length) return false;
      this.move(this.toLineEnd + 1);
    }
    this.move(Math.min(column, this.toLineEnd));
    return true;
  }

  /** The character before the cursor. */
  get before(): string {
    return this.#cells[this.#cursor - 1]?.text ?? "";
  }

  get isAtEnd(): boolean {
    return this.#cursor === this.#cells.length;
  }

  /** Wraps the text to rows. `beforeCursor`: the part of the cursor's row to its left. */
  layOut(columns: number): { rows: string[]; cursorRow: number; beforeCursor: string } {
    const width = Math.max(1, columns);
    const rows = [""];
    let used = 0;
    let cursor = { row: 0, before: "" };
    const locateCursor = (index: number) => {
      if (index === this.#cursor) cursor = { row: rows.length - 1, before: rows.at(-1)! };
    };
    const next = () => {
      rows.push("");
      used = 0;
    };
    this.#cells.forEach((cell, index) => {
      if (cell.text === "\n") {
        locateCursor(index);
        next();
        return;
      }
      const characters = cell.shown.length === 1 ? [cell.shown] : splitCharacters(cell.shown);
      characters.forEach((character, part) => {
        const wide = columnsOf(character);
        if (used + wide > width && used > 0) next();
        if (part === 0) locateCursor(index);
        rows[rows.length - 1] += character === "\t" ? "    " : character;
        used += wide;
      });
    });
    if (used >= width && this.isAtEnd) next();
    locateCursor(this.#cells.length);
    return { rows, cursorRow: cursor.row, beforeCursor: cursor.before };
  }
}

const clamp = (value: number, max: number) => Math.max(0, Math.min(value, max));

function toCells(text: string): Cell[] {
  const lines = countLines(text);
  if (lines > CHIP_LINES || text.length > CHIP_CHARS) {
    const size = lines > 1 ? `${lines} lines` : `${text.length} characters`;
    return [{ text, shown: `[${size}]` }];
  }
  return splitCharacters(text).map((character) => ({
    text: character,
    shown: character === "\n" || character === "\t" ? character : visibleText(character),
  }));
}

const countLines = (text: string): number => text.replace(/\n$/, "").split("\n").length;
