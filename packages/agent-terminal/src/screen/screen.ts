import type { Clock } from "@codex/clock";
import type { OutputSink } from "../exec/output-sink.js";
import { DRAW_MS } from "../limits.js";
import { cutToColumns } from "../text/columns.js";

/** The region at the bottom of a terminal, redrawn when it changes. */
export interface Region {
  /** Rows above the input, unstyled; truncated to the width. */
  readonly status: readonly string[];
  readonly input: readonly string[];
  /** Input row of the cursor. */
  readonly cursorRow: number;
  /** Text to its left, including the prefix. */
  readonly beforeCursor: string;
}

/** Options of {@link Screen}. */
export interface ScreenOptions {
  readonly output: OutputSink;
  /** Columns and rows. */
  readonly size: () => { columns: number; rows: number };
  readonly region: (size: { columns: number; rows: number }) => Region;
  readonly clock: Pick<Clock, "after">;
  /** Styles the rows above the input. */
  readonly paintStatus: (row: string) => string;
  /** The terminal rewraps long rows when resized. */
  readonly reflows: boolean;
  /** False: the region is not drawn. */
  readonly canDraw: boolean;
}

/**
 * Draws a region at the bottom of a terminal in place; the text above is permanent, and scrolls.
 */
export class Screen implements OutputSink {
  readonly #options: ScreenOptions;
  /** Widths of the drawn rows; undefined: nothing is drawn. */
  #drawn: { widths: number[]; cursorRow: number; columns: number } | undefined;
  #waiting: string[] = [];
  #isHeld = false;
  #isClosed = false;
  #cancelDraw: (() => void) | undefined;
  #onRelease: (() => void)[] = [];

  constructor(options: ScreenOptions) {
    this.#options = options;
  }

  get closed(): AbortSignal {
    return this.#options.output.closed;
  }

  /** Adds text above the region. Resolves when more can be written. */
  async write(text: string): Promise<void> {
    if (text === "") return;
    this.#waiting.push(text);
    if (this.#isHeld) return new Promise((resolve) => void this.#onRelease.push(resolve));
    await this.#flush();
  }

  /** Schedules a redraw. */
  changed(): void {
    if (this.#isHeld || this.#isClosed) return;
    this.#cancelDraw ??= this.#options.clock.after(DRAW_MS, () => void this.#flush());
  }

  /** Redraws immediately. */
  draw(): void {
    if (!this.#isHeld && !this.#isClosed) void this.#flush();
  }

  /** Erases the region and buffers text until `release`, so that other code can use the terminal. */
  hold(): void {
    if (this.#isHeld || this.#isClosed) return;
    this.#cancel();
    void this.#options.output.write(this.#erase());
    this.#isHeld = true;
  }

  release(): void {
    this.#isHeld = false;
    const resume = this.#onRelease.splice(0);
    void this.#flush().then(() => {
      for (const each of resume) each();
    });
  }

  /** Erases the region permanently and writes buffered text. Idempotent. */
  close(): void {
    if (this.#isClosed) return;
    this.#cancel();
    void this.#options.output.write(`${this.#erase()}${this.#waiting.splice(0).join("")}`);
    this.#isClosed = true;
    this.#isHeld = false;
    for (const each of this.#onRelease.splice(0)) each();
  }

  #cancel(): void {
    this.#cancelDraw?.();
    this.#cancelDraw = undefined;
  }

  #flush(): Promise<void> {
    this.#cancel();
    const text = this.#waiting.splice(0).join("");
    if (this.#isClosed || !this.#options.canDraw) return this.#options.output.write(text);
    return this.#options.output.write(`${this.#erase()}${text}${this.#render()}`);
  }

  /** Moves the cursor to the start of the region and clears it. */
  #erase(): string {
    const drawn = this.#drawn;
    this.#drawn = undefined;
    if (drawn === undefined) return "";
    const { columns } = this.#options.size();
    const isNarrower = this.#options.reflows && columns < drawn.columns;
    const rowsOf = (width: number) => (isNarrower ? Math.max(1, Math.ceil(width / Math.max(1, columns))) : 1);
    const above = drawn.widths.slice(0, drawn.cursorRow).reduce((sum, width) => sum + rowsOf(width), 0);
    return `\r${above > 0 ? `\u001b[${above}A` : ""}\u001b[J`;
  }

  #render(): string {
    const size = this.#options.size();
    const { status, input, cursorRow, beforeCursor } = this.#options.region(size);
    const room = Math.max(0, size.rows - 1 - input.length);
    const above = status.slice(Math.max(0, status.length - room)).map((row) => cutToColumns(row, size.columns - 1));
    const rows = [...above.map(this.#options.paintStatus), ...input];
    const row = above.length + cursorRow;
    const below = rows.length - 1 - row;
    // One column per character, without styles.
    this.#drawn = {
      widths: rows.map((each) => each.replace(STYLES, "").length),
      cursorRow: row,
      columns: size.columns,
    };
    const back = `${below > 0 ? `\u001b[${below}A` : ""}\r${beforeCursor}`;
    return `\u001b[?7l${rows.join("\r\n")}${back}\u001b[?7h`;
  }
}

const STYLES = /\u001b\[[\d;]*m/g;
