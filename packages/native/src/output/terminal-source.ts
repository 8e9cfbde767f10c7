import { ReadStream } from "node:tty";
import type { BurstReader } from "./burst-reader.js";
import type { ByteSink, ByteSource } from "./byte-source.js";
import { ReadBatch } from "./read-batch.js";
import { type ReadMemory, TERMINAL_READ_BYTES } from "./read-memory.js";

/** The master side of a terminal. */
export interface TerminalSource extends ByteSource {
  /** Whether the descriptor is still open, for writing and resizing. */
  readonly open: boolean;
  /** Reads available data now instead of waiting for the event loop. While paused it reads nothing. */
  poll(): void;
}

/**
 * Reads the master side of a terminal. Owns the descriptor.
 *
 * When the last process closes the slave side, the master reports a hang-up; libuv then ends the stream after any partial
 * read, leaving data unread. So after the end of the stream the rest is read directly until the kernel returns EIO, which
 * means that everything was read.
 */
export const readTerminal = (fd: number, memory: ReadMemory, sink: ByteSink): TerminalSource =>
  new TerminalReader(fd, memory, sink);

class TerminalReader implements TerminalSource {
  readonly #fd: number;
  readonly #memory: ReadMemory;
  readonly #batch: ReadBatch;
  readonly #sink: ByteSink;
  #paused = false;
  #stream: ReadStream | undefined;
  /** While it exists, only it reads the descriptor. */
  #burst: BurstReader | undefined;
  /** Waits for a turn; nothing is read before that. */
  #waiting = false;

  constructor(fd: number, memory: ReadMemory, sink: ByteSink) {
    this.#fd = fd;
    this.#memory = memory;
    this.#batch = new ReadBatch(fd, memory, sink);
    this.#sink = sink;
    const callback = (size: number, buffer: Uint8Array) => this.#take(size, buffer);
    const options = { allowHalfOpen: true, autoDestroy: false, onread: { buffer: memory.terminalBuffer, callback } };
    // The types lack the socket options, which are passed on.
    const stream = new ReadStream(fd, options as ConstructorParameters<typeof ReadStream>[1]);
    this.#stream = stream;
    stream.on("end", () => {
      while (this.#batch.fill() > 0);
      stream.destroy();
    });
    stream.on("error", destroy); // EIO: no process has the slave side open and everything was read
    stream.on("close", () => this.#end());
    stream.resume();
  }

  get open(): boolean {
    return this.#stream?.destroyed === false;
  }

  pause(): void {
    this.#paused = true;
    this.#stream?.pause();
    this.#burst?.pause();
  }

  resume(): void {
    this.#paused = false;
    if (this.#burst !== undefined) this.#burst.resume();
    else if (!this.#waiting) this.#stream?.resume();
  }

  poll(): void {
    if (!this.#paused && !this.#waiting && this.open && this.#burst === undefined) this.#readMore();
  }

  close(): void {
    this.#burst?.close();
    this.#stream?.destroy();
  }

  #take(size: number, buffer: Uint8Array): boolean {
    this.#batch.append(buffer, size);
    if (size < TERMINAL_READ_BYTES) this.#batch.flush();
    else if (this.#memory.turns.enter(this.#onTurn)) this.#readMore();
    else this.#wait();
    return true;
  }

  #wait(): void {
    this.#batch.flush();
    this.#waiting = true;
    this.#stream?.pause();
  }

  readonly #onTurn = (): void => {
    this.#waiting = false;
    if (this.#paused || !this.open) return;
    this.#stream?.resume();
    this.#readMore();
  };

  /** After a short read the terminal is empty for now, so its data is delivered without waiting for the end of the turn. */
  #readMore(): void {
    if (this.#batch.fill() < TERMINAL_READ_BYTES) this.#batch.flush();
    else this.#openBurst();
  }

  /**
   * The terminal fills as fast as it is read. Each read waits for a kernel worker to transfer the written data, and the writer
   * waits for the reader; so the thread pool reads while the previous chunk is delivered.
   */
  #openBurst(): void {
    this.#batch.flush();
    if (this.#paused || !this.open) return;
    const { chunks, openBurstReader } = this.#memory;
    this.#burst = openBurstReader(this.#fd, chunks, {
      onBytes: (bytes) => this.#sink.onBytes(bytes),
      onDrained: () => {
        this.#burst = undefined;
        if (!this.#paused) this.#stream?.resume();
      },
    });
    if (this.#burst !== undefined) this.#stream?.pause();
  }

  #end(): void {
    if (this.#stream === undefined) return;
    this.#stream = undefined;
    this.#memory.turns.leave(this.#onTurn);
    this.#batch.flush();
    this.#sink.onEnd();
  }
}

function destroy(this: ReadStream): void {
  this.destroy();
}
