import type { Clock } from "@codex/clock";
import type { OutputSink } from "../exec/output-sink.js";
import { DRAW_MS } from "../limits.js";
import { cutToColumns } from "../text/columns.js";

/** The lower end of a terminal, which is drawn again when it changes. */
export interface Region {
  /** Rows above the input, plain; cut to the width. */
  readonly status: readonly string[];
  readonly input: readonly string[];
  /** Row of the input that the cursor is in. */
  readonly cursorRow: number;
  /** What stands to its left, prefix included. */
  readonly beforeCursor: string;
}

/** What a screen is made of. */
export interface ScreenOptions {
  readonly output: OutputSink;
  /** Columns and rows. */
  readonly size: () => { columns: number; rows: number };
  readonly region: (size: { columns: number; rows: number }) => Region;
  readonly clock: Pick<Clock, "after">;
  /** Styles the rows above the input. */
  readonly paintStatus: (row: string) => string;
  /** The terminal wraps long rows anew when it becomes narrower. */
  readonly reflows: boolean;
  /** False: nothing is drawn twice, since the terminal cannot. */
  readonly canDraw: boolean;
}

/**
 * A terminal of which the lower end changes in place, and all above is text that stays: it scrolls, can be searched and copied.
 */
export class Screen implements OutputSink {
  readonly #options: ScreenOptions;
  /** What is drawn, by its widths; undefined: nothing. */
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

  /** Adds text above the region. Resolves when more may be written. */
  async write(text: string): Promise<void> {
    if (text === "") return;
    this.#waiting.push(text);
    if (this.#isHeld) return new Promise((resolve) => void this.#onRelease.push(resolve));
    await this.#flush();
  }

  /** Draws the region again, soon. */
  changed(): void {
    if (this.#isHeld || this.#isClosed) return;
    this.#cancelDraw ??= this.#options.clock.after(DRAW_MS, () => void this.#flush());
  }

  /** Draws the region again, at once. */
  draw(): void {
    if (!this.#isHeld && !this.#isClosed) void this.#flush();
  }

  /** Takes the region away and keeps what is written: somebody else writes to the terminal until `release`. */
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

  /** Takes the region away for good; what was written stays. Idempotent. */
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

  /** From wherever the cursor is in the region to an empty line where it began. */
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
    // Plain text has a column a character; styles are none.
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
