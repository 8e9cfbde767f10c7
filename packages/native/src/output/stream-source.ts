import { Socket } from "node:net";
import type { Readable } from "node:stream";
import type { ByteSink, ByteSource } from "./byte-source.js";
import { PipeBuffer } from "./pipe-buffer.js";
import { PIPE_BYTES, type ReadMemory } from "./read-memory.js";
import type { ReadTurns } from "./read-turns.js";

/** Reads a pipe. Takes ownership of the descriptor. */
export function readPipe(fd: number, memory: ReadMemory, sink: ByteSink): ByteSource {
  const buffer = new PipeBuffer(memory);
  const onRead = (size: number, into: Buffer) => {
    sink.onBytes(buffer.take(into, size));
    source.onRead(size, into.length);
    return true;
  };
  // Node calls `buffer` before the first read and after each one.
  const onread = { buffer: () => buffer.next(), callback: onRead };
  // The types lack `onread` for a socket created from a descriptor.
  const socket = new Socket({ fd, readable: true, writable: false, onread } as ConstructorParameters<typeof Socket>[0]);
  socket.once("close", () => buffer.release());
  const source = new StreamSource(socket, sink, memory.turns);
  socket.resume();
  return source;
}

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
