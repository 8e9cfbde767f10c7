import { LIVE_LINE_CHARS } from "../limits.js";

/** The last lines of growing text. A carriage return restarts its line, as on a terminal. */
export class LiveTail {
  readonly #max: number;
  #lines: string[] = [""];

  constructor(maxLines: number) {
    this.#max = maxLines;
  }

  append(text: string): void {
    const lines = text.split("\n");
    for (const [index, line] of lines.entries()) {
      if (index > 0) this.#lines.push("");
      const at = this.#lines.length - 1;
      const joined = (this.#lines[at] ?? "") + line;
      // Text after a carriage return replaces the line; a trailing one is kept until then.
      const from = joined.replace(/(?<!\r)\r+$/, "").lastIndexOf("\r") + 1;
      this.#lines[at] = joined.slice(Math.max(from, joined.length - LIVE_LINE_CHARS));
    }
    if (this.#lines.length > this.#max + 1) this.#lines = this.#lines.slice(-this.#max - 1);
  }

  /** Oldest first, without control sequences. */
  get lines(): string[] {
    const shown = this.#lines.map((line) => line.replace(SEQUENCES, "").replace(/(?<!\r)\r+$/, ""));
    const whole = shown.at(-1) === "" ? shown.slice(0, -1) : shown;
    return whole.slice(-this.#max);
  }
}

const SEQUENCES = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[()][0-9A-B]|[=>78cDEHMNOZ])/g;
