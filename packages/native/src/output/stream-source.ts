import type { Readable } from "node:stream";
import type { ByteSink, ByteSource } from "./byte-source.js";
import { PIPE_BYTES } from "./read-memory.js";
import type { ReadTurns } from "./read-turns.js";

/** Reads a stream of Node. Takes ownership of it. */
export function readStream(readable: Readable, turns: ReadTurns, sink: ByteSink): ByteSource {
  readable.on("data", (bytes: Buffer) => {
    sink.onBytes(bytes);
    source.onRead(bytes.length, PIPE_BYTES);
  });
  const source = new StreamSource(readable, sink, turns);
  return source;
}

/** Drops its stream when that ends, so that a reference to the source does not keep the stream in memory. */
class StreamSource implements ByteSource {
  readonly #turns: ReadTurns;
  #stream: Readable | undefined;
  #paused = false;
  /** Waits for a turn; nothing is read before that. */
  #waiting = false;

  constructor(stream: Readable, sink: ByteSink, turns: ReadTurns) {
    this.#stream = stream;
    this.#turns = turns;
    stream.on("error", ignore); // `close` follows, as at an orderly end
    stream.on("close", () => {
      this.#stream = undefined;
      turns.leave(this.#onTurn);
      sink.onEnd();
    });
  }

  /** A full read means that there is more, and libuv would do up to 32 reads before it handles other events. */
  onRead(bytes: number, mostBytes: number): void {
    if (bytes < mostBytes || this.#waiting) return;
    this.#waiting = true;
    this.#stream?.pause();
    this.#turns.wait(this.#onTurn);
  }

  pause(): void {
    this.#paused = true;
    this.#stream?.pause();
  }

  resume(): void {
    this.#paused = false;
    if (!this.#waiting) this.#stream?.resume();
  }

  readonly #onTurn = (): void => {
    this.#waiting = false;
    if (!this.#paused) this.#stream?.resume();
  };

  close(): void {
    this.#stream?.destroy();
  }
}

const ignore = (): void => {};
