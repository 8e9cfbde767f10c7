import { setTimeout as pause } from "node:timers/promises";
import type { WriteStream } from "node:tty";
import { type StyledScreen, styledScreenSchema } from "@codex/executor-protocol";
import type { Orchestrator } from "@codex/orchestrator";
import { renderAnsiRows } from "@codex/recording/screenshot";
import { defined } from "@codex/values";
import { safeParse } from "zod/mini";
import { CommandError } from "./exit-codes.js";
import { sessionError } from "./read-session.js";

/** Shortest interval between two drawings, milliseconds. */
const DRAW_MS = 50;

/** What the terminal of a session shows. @throws CommandError */
export async function readStyledScreen(
  orchestrator: Pick<Orchestrator, "callTool">,
  id: number,
  signal?: AbortSignal,
): Promise<StyledScreen> {
  const args = { session_id: id, styled: true };
  const options = { sessionScope: "executor", ...defined({ signal }) } as const;
  const result = await orchestrator.callTool("read_screen", args, options);
  if (result.isError) throw sessionError(result.text);
  const screen = safeParse(styledScreenSchema, result.structured);
  if (screen.success) return screen.data;
  throw new CommandError("this executor reports no colors: it is too old to show its screens");
}

/** Prints the rows of a screen. */
export function printScreen(screen: StyledScreen): void {
  // Written as it is: it contains styles, and no byte of the program.
  for (const row of renderAnsiRows(screen)) process.stdout.write(`${row}\n`);
}

/**
 * The screen of a session at another terminal: drawn from the model of the executor, so that no byte of the program can act on this
 * terminal or ask it something. What does not fit is cut off. The caller closes it, which restores the terminal.
 */
export class ScreenDrawing {
  readonly #output: WriteStream;
  #drawnAt = Number.NEGATIVE_INFINITY;
  #last: StyledScreen | undefined;
  #isClosed = false;

  constructor(output: WriteStream) {
    this.#output = output;
    output.write(ENTER);
  }

  /** Waits until the last drawing is `DRAW_MS` ago. */
  async draw(read: () => Promise<StyledScreen>): Promise<void> {
    await pause(Math.max(0, this.#drawnAt + DRAW_MS - performance.now()));
    const screen = await read();
    if (this.#isClosed) return;
    this.#drawnAt = performance.now();
    this.#last = screen;
    this.#output.write(this.#render(screen));
  }

  /** Shows lines above the screen until it is drawn again. */
  tell(lines: readonly string[]): void {
    if (this.#isClosed) return;
    this.#output.write(`\x1b7\x1b[H\x1b[7m${lines.map((line) => `${line}\x1b[K`).join("\r\n")}\x1b[0m\x1b8`);
  }

  /** Leaves what was drawn last behind. Idempotent. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#output.write(LEAVE);
    if (this.#last !== undefined) printScreen(this.#last);
  }

  #render(screen: StyledScreen): string {
    // A terminal that says nothing of its size counts as large enough.
    const height = this.#output.rows || screen.size.rows;
    const width = this.#output.columns || screen.size.cols;
    const { cursor } = screen;
    // The rows up to that of the cursor, where not all fit.
    const top = Math.max(0, Math.min(screen.size.rows, cursor.row) - height);
    const rows = renderAnsiRows(screen).slice(top, top + height);
    const place = `\x1b[${cursor.row - top};${Math.min(cursor.col, width)}H`;
    const shown = cursor.visible && cursor.row - top <= height ? `${place}\x1b[?25h` : "\x1b[?25l";
    return `\x1b[?25l\x1b[H\x1b[2J${rows.join("\r\n")}${shown}`;
  }
}

/** The alternate screen, without line wrapping. */
const ENTER = "\x1b[?1049h\x1b[?7l";
const LEAVE = "\x1b[0m\x1b[?7h\x1b[?25h\x1b[?1049l";
