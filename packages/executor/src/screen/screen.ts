import { setImmediate as nextTurn } from "node:timers/promises";
import type { OutputLog } from "@codex/exec-backend";
import type { ByteRange, TerminalSize } from "@codex/executor-protocol";
import { LOG_READ_BYTES, MAX_SCREEN_CELLS, MAX_SCREEN_PIECE_BYTES, SCREEN_TURN_MS } from "../limits.js";
import { getContinuation } from "../output/utf8.js";
import type { SizeHistory } from "./size-history.js";
import type { HeadlessTerminal, ScreenContent } from "./terminal.js";

export interface ScreenView extends ScreenContent {
  size: TerminalSize;
  /** Offset up to which output was rendered. */
  upTo: number;
  /** Output that was not retained, and is therefore missing on the screen. */
  gone: ByteRange[];
}

/** Maximum number of separate evicted ranges; further ones are joined. */
const MAX_GONE = 16;

/** The screen of one session, rendered incrementally from its retained output. */
export class Screen {
  readonly #terminal: HeadlessTerminal;
  readonly #log: OutputLog;
  readonly #sizes: SizeHistory;
  #position = 0;
  #gone: ByteRange[] = [];
  /** Bytes written to the terminal at a time, adapted to the time that they take. */
  #pieceBytes = MAX_SCREEN_PIECE_BYTES;
  /** Whether the next bytes follow a gap. */
  #isAfterGap = false;
  readonly #now: () => number;
  /** When to yield to the event loop, milliseconds of `now`. */
  #yieldAt = 0;
  /** When the current read stops, milliseconds of `now`. */
  #deadline = 0;
  /** Reads are serialized. */
  #lastRead: Promise<unknown> = Promise.resolve();

  /** @param now monotonic, milliseconds */
  constructor(terminal: HeadlessTerminal, log: OutputLog, sizes: SizeHistory, now = () => performance.now()) {
    this.#now = now;
    this.#terminal = terminal;
    this.#log = log;
    this.#sizes = sizes;
  }

  /**
   * The screen after all output so far. Undefined if `ms` milliseconds have passed or the signal aborts before all of it was
   * rendered; the next call continues there. `styled`: with colors. @throws Error when the terminal cannot be used any more
   */
  read(signal: AbortSignal, ms: number, styled = false): Promise<ScreenView | undefined> {
    const view = this.#lastRead.then(() => {
      this.#deadline = this.#now() + ms;
      return this.#read(signal, styled);
    });
    this.#lastRead = view.catch(() => {}); // reported by `view`
    return view;
  }

  get position(): number {
    return this.#position;
  }

  async #read(signal: AbortSignal, styled: boolean): Promise<ScreenView | undefined> {
    const { end } = this.#log;
    const size = this.#sizes.at(end);
    this.#yieldAt = this.#now() + SCREEN_TURN_MS;
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

  /** Reads the next retained output with one terminal size, and resizes the terminal. */
  async #load(end: number) {
    const [gap] = this.#log.getEvicted(this.#position, end);
    if (gap?.from === this.#position) this.#skipTo(gap.to);
    const from = this.#position;
    const size = this.#sizes.at(from);
    // A size too large to render is skipped: it is not the current one.
    if (size.rows * size.cols <= MAX_SCREEN_CELLS) this.#terminal.resize(size);
    const to = Math.min(end, this.#sizes.nextAfter(from) ?? end, from + LOG_READ_BYTES);
    const { chunks } = await this.#log.read(from, to);
    return { chunks, to };
  }

  /** Records that the output up to an offset was not retained. */
  #skipTo(offset: number): void {
    if (offset <= this.#position) return;
    const last = this.#gone.at(-1);
    const adjoins = last !== undefined && (last.to === this.#position || this.#gone.length === MAX_GONE);
    if (adjoins) last.to = offset;
    else this.#gone.push({ from: this.#position, to: offset });
    this.#terminal.skip();
    this.#position = offset;
    this.#isAfterGap = true;
  }

  /** False if the read stopped early, at `position`. */
  async #feed(bytes: Uint8Array, signal: AbortSignal): Promise<boolean> {
    let at = this.#isAfterGap ? getContinuation(bytes) : 0;
    this.#isAfterGap = false;
    this.#position += at;
    while (at < bytes.length) {
      if (signal.aborted || this.#now() >= this.#deadline) return false;
      const piece = bytes.subarray(at, at + this.#pieceBytes);
      this.#write(piece);
      at += piece.length;
      this.#position += piece.length;
      if (this.#now() < this.#yieldAt) continue;
      await nextTurn();
      this.#yieldAt = this.#now() + SCREEN_TURN_MS;
    }
    return true;
  }

  /** Some sequences take a thousand times as long as plain text. */
  #write(piece: Uint8Array): void {
    const started = this.#now();
    this.#terminal.write(piece);
    const ms = this.#now() - started;
    if (ms > SCREEN_TURN_MS / 2) this.#pieceBytes = Math.max(MIN_PIECE_BYTES, this.#pieceBytes >> 1);
    else if (ms < 1) this.#pieceBytes = Math.min(MAX_SCREEN_PIECE_BYTES, this.#pieceBytes << 1);
  }
}

const MIN_PIECE_BYTES = 16;
