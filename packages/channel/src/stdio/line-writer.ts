import { Socket } from "node:net";
import type { Writable } from "node:stream";
import { checkHead, FRAME_START_BYTES, writeFrameStart } from "../codec/binary-frame.js";
import { checkSize, checkStructure, stringify } from "../codec/encode.js";
import type { ChannelLimits } from "../limits.js";
import { TurnCork } from "../queue/turn-cork.js";

const LINE_FEED = 0x0a;
const LINE_END = Buffer.from([LINE_FEED]);

/** Size of the pages in which small messages are collected, bytes, to save an allocation and a system call for each. */
const PAGE_BYTES = 64 * 1024;

/** A UTF-16 unit takes at most this many bytes in UTF-8. */
const MAX_BYTES_PER_UNIT = 3;

/** Encoded messages up to this size are copied into the page; larger ones are written as they are. */
const MAX_COPIED_BYTES = 4 * 1024;

/** Writes lines to a stream; those of one turn of the event loop are written together. */
export class LineWriter {
  readonly #output: Writable;
  readonly #limits: ChannelLimits;
  readonly #onWritten: () => void;
  readonly #cork: TurnCork;
  #page: Buffer = Buffer.alloc(0);
  #pageStart = 0;
  #pageEnd = 0;
  #scheduled = false;

  /** @param onWritten called whenever bytes were written */
  constructor(output: Writable, limits: ChannelLimits, onWritten: () => void) {
    this.#output = output;
    this.#cork = new TurnCork(output);
    this.#limits = limits;
    this.#onWritten = onWritten;
  }

  /** Whether every `onWritten` is called: a stream of this process may pass on the memory itself. */
  get reportsWritten(): boolean {
    return this.#output instanceof Socket;
  }

  /** Bytes waiting to be written. */
  get backlog(): number {
    return this.#pageEnd - this.#pageStart + this.#output.writableLength;
  }

  /** @throws ChannelError, having written nothing */
  writeValue(value: unknown): void {
    const text = stringify(value);
    const most = text.length * MAX_BYTES_PER_UNIT + 1;
    if (most > PAGE_BYTES) {
      checkSize(Buffer.byteLength(text), this.#limits);
      const line = Buffer.from(`${text}\n`);
      checkStructure(line, this.#limits);
      this.#writeThrough([line]);
      return;
    }
    this.#reserve(most);
    const bytes = this.#page.write(text, this.#pageEnd);
    checkSize(bytes, this.#limits);
    checkStructure(this.#page.subarray(this.#pageEnd, this.#pageEnd + bytes), this.#limits);
    this.#pageEnd += bytes;
    this.#page[this.#pageEnd++] = LINE_FEED;
  }

  /** `onWritten` is called once `json` is no longer read; only a write to a socket reports that. */
  writeEncoded(json: Uint8Array, onWritten?: () => void): void {
    if (json.length > MAX_COPIED_BYTES) {
      this.#writeThrough([json, LINE_END], this.reportsWritten ? onWritten : undefined);
      return;
    }
    this.#reserve(json.length + 1);
    this.#page.set(json, this.#pageEnd);
    this.#pageEnd += json.length;
    this.#page[this.#pageEnd++] = LINE_FEED;
    onWritten?.();
  }

  /** @throws ChannelError, having written nothing. `onWritten` as for `writeEncoded`. */
  writeFrame(head: Uint8Array, body: Uint8Array, onWritten?: () => void): void {
    checkHead(head);
    checkSize(body.length, this.#limits);
    const startBytes = FRAME_START_BYTES + head.length;
    if (startBytes + body.length <= MAX_COPIED_BYTES) {
      this.#reserve(startBytes + body.length);
      this.#pageEnd = writeFrameStart(this.#page, this.#pageEnd, head, body.length);
      this.#page.set(body, this.#pageEnd);
      this.#pageEnd += body.length;
      onWritten?.();
      return;
    }
    const start = Buffer.allocUnsafe(startBytes);
    writeFrameStart(start, 0, head, body.length);
    this.#cork.hold(body.length);
    this.flush();
    this.#output.write(start);
    const freed = this.reportsWritten ? onWritten : undefined;
    this.#output.write(body, (error) => this.#afterWrite(error, freed));
  }

  flush(): void {
    if (this.#pageEnd === this.#pageStart) return;
    const bytes = this.#page.subarray(this.#pageStart, this.#pageEnd);
    this.#pageStart = this.#pageEnd;
    this.#output.write(bytes, this.#afterWrite);
  }

  /** A failing stream also calls this for writes that it dropped: with an error, or without one once destroyed. */
  readonly #afterWrite = (error?: Error | null, then?: () => void): void => {
    if (error || this.#output.destroyed) return;
    then?.();
    this.#onWritten();
  };

  /** Makes room for this number of bytes in the page. Bytes that were passed to the stream are never overwritten. */
  #reserve(bytes: number): void {
    if (this.#pageEnd + bytes > this.#page.length) {
      this.flush();
      this.#page = Buffer.allocUnsafeSlow(PAGE_BYTES);
      this.#pageStart = 0;
      this.#pageEnd = 0;
    }
    if (this.#scheduled) return;
    this.#scheduled = true;
    process.nextTick(() => {
      this.#scheduled = false;
      this.flush();
    });
  }

  #writeThrough(parts: readonly Uint8Array[], onWritten?: () => void): void {
    this.flush();
    this.#output.cork();
    for (const part of parts.slice(0, -1)) this.#output.write(part, this.#afterWrite);
    this.#output.write(parts.at(-1), (error) => this.#afterWrite(error, onWritten));
    this.#output.uncork();
  }
}
