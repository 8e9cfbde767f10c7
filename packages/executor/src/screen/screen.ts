import { setImmediate as nextTurn } from "node:timers/promises";
import type { OutputLog } from "@codex/exec-backend";
import type { ByteRange, TerminalSize } from "@codex/executor-protocol";
import { LOG_READ_BYTES, MAX_SCREEN_CELLS, MAX_SCREEN_PIECE_BYTES, SCREEN_TURN_MS } from "../limits.js";
import { getContinuation } from "../output/utf8.js";
import type { SizeHistory } from "./size-history.js";
import type { HeadlessTerminal, ScreenContent } from "./terminal.js";

export interface ScreenView extends ScreenContent {
  size: TerminalSize;
  /** It shows what the output up to this byte made of it. */
  upTo: number;
  /** Output that was not retained: what it would have changed is not on the screen. */
  gone: ByteRange[];
}

/** Evicted ranges that are listed apart. */
const MAX_GONE = 16;

/** The terminal of one session, made from its output: from all that is retained, then from what came since. */
export class Screen {
  readonly #terminal: HeadlessTerminal;
  readonly #log: OutputLog;
  readonly #sizes: SizeHistory;
  #position = 0;
  #gone: ByteRange[] = [];
  /** Bytes given to the terminal at once: as many as it takes in a short time. */
  #pieceBytes = MAX_SCREEN_PIECE_BYTES;
  /** Bytes are missing in front of the next ones. */
  #torn = false;
  /** When everything else gets its turn, milliseconds of `performance.now`. */
  #turnEnd = 0;
  /** When the present read gives up, milliseconds of `performance.now`. */
  #deadline = 0;
  /** Reads come one after the other. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(terminal: HeadlessTerminal, log: OutputLog, sizes: SizeHistory) {
    this.#terminal = terminal;
    this.#log = log;
    this.#sizes = sizes;
  }

  /**
   * The screen after the output that there is now. Undefined when the time is over, or the signal aborts, before all of
   * it was rendered; the next call goes on from there. `styled`: with colors. @throws Error when the terminal is of no use any more.
   */
  read(signal: AbortSignal, ms: number, styled = false): Promise<ScreenView | undefined> {
    const view = this.#turn.then(() => {
      this.#deadline = performance.now() + ms;
      return this.#read(signal, styled);
    });
    this.#turn = view.catch(() => {}); // reported by `view`
    return view;
  }

  get position(): number {
    return this.#position;
  }

  async #read(signal: AbortSignal, styled: boolean): Promise<ScreenView | undefined> {
    const { end } = this.#log;
    const size = this.#sizes.at(end);
    this.#turnEnd = performance.now() + SCREEN_TURN_MS;
    while (this.#position < end) {
      const { chunks, to } = await this.#load(end);
      for (const { offset, bytes } of chunks) {
        this.#skipTo(offset);
        if (!(await this.#feed(bytes, signal))) return undefined;
      }
      this.#skipTo(to);
    }
    this.#terminal.resize(size);
    return { ...this.#terminal.read(styled), size, upTo: end, gone: [...this.#gone] };
  }

  /** The next retained output that falls under one size, which the terminal has then. */
  async #load(end: number) {
    const [gap] = this.#log.getEvicted(this.#position, end);
    if (gap?.from === this.#position) this.#skipTo(gap.to);
    const from = this.#position;
    const size = this.#sizes.at(from);
    // A size too large to render is passed over: it is not the present one.
    if (size.rows * size.cols <= MAX_SCREEN_CELLS) this.#terminal.resize(size);
    const to = Math.min(end, this.#sizes.nextAfter(from) ?? end, from + LOG_READ_BYTES);
    const { chunks } = await this.#log.read(from, to);
    return { chunks, to };
  }

  /** What lies between was not retained. */
  #skipTo(offset: number): void {
    if (offset <= this.#position) return;
    const last = this.#gone.at(-1);
    const adjoins = last !== undefined && (last.to === this.#position || this.#gone.length === MAX_GONE);
    if (adjoins) last.to = offset;
    else this.#gone.push({ from: this.#position, to: offset });
    this.#terminal.skip();
    this.#position = offset;
    this.#torn = true;
  }

  /** False when the read gave up first; `position` is how far it came. */
  async #feed(bytes: Uint8Array, signal: AbortSignal): Promise<boolean> {
    let at = this.#torn ? getContinuation(bytes) : 0;
    this.#torn = false;
    this.#position += at;
    while (at < bytes.length) {
      if (signal.aborted || performance.now() >= this.#deadline) return false;
      const piece = bytes.subarray(at, at + this.#pieceBytes);
      this.#write(piece);
      at += piece.length;
      this.#position += piece.length;
      if (performance.now() < this.#turnEnd) continue;
      await nextTurn();
      this.#turnEnd = performance.now() + SCREEN_TURN_MS;
    }
    return true;
  }

  /** Some sequences take a thousand times as long as plain text. */
  #write(piece: Uint8Array): void {
    const started = performance.now();
    this.#terminal.write(piece);
    const ms = performance.now() - started;
    if (ms > SCREEN_TURN_MS / 2) this.#pieceBytes = Math.max(MIN_PIECE_BYTES, this.#pieceBytes >> 1);
    else if (ms < 1) this.#pieceBytes = Math.min(MAX_SCREEN_PIECE_BYTES, this.#pieceBytes << 1);
  }
}

const MIN_PIECE_BYTES = 16;
