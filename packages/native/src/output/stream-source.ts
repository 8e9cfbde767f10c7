import { Socket } from "node:net";
import type { Readable } from "node:stream";
import { CHUNK_SLAB_BYTES } from "../limits.js";
import type { ByteSink, ByteSource } from "./byte-source.js";
import { PIPE_READ_BYTES, type ReadMemory } from "./read-memory.js";
import type { ReadTurns } from "./read-turns.js";

/** Reads a pipe. Owns the descriptor. */
export function readPipe(fd: number, { pipeBuffer, chunks, turns }: ReadMemory, sink: ByteSink): ByteSource {
  const onRead = (size: number, buffer: Uint8Array) => {
    for (let from = 0; from < size; from += CHUNK_SLAB_BYTES) {
      sink.onBytes(chunks.copy(buffer.subarray(from, Math.min(size, from + CHUNK_SLAB_BYTES))));
    }
    source.onRead(size);
    return true;
  };
  const onread = { buffer: pipeBuffer, callback: onRead };
  // The types leave out that a socket made of a descriptor takes `onread`.
  const socket = new Socket({ fd, readable: true, writable: false, onread } as ConstructorParameters<typeof Socket>[0]);
  const source = new StreamSource(socket, sink, turns);
  socket.resume();
  return source;
}

/** Reads a stream that Node made. Owns it. */
export function readStream(readable: Readable, turns: ReadTurns, sink: ByteSink): ByteSource {
  readable.on("data", (bytes: Buffer) => {
    sink.onBytes(bytes);
    source.onRead(bytes.length);
  });
  const source = new StreamSource(readable, sink, turns);
  return source;
}

/** Drops its stream when that ends: whoever keeps the source does not keep the stream alive. */
class StreamSource implements ByteSource {
  readonly #turns: ReadTurns;
  #stream: Readable | undefined;
  #paused = false;
  /** In a row. */
  #fullReads = 0;
  /** Nothing is read until its turn comes. */
  #waiting = false;

  constructor(stream: Readable, sink: ByteSink, turns: ReadTurns) {
    this.#stream = stream;
    this.#turns = turns;
    stream.on("error", ignore); // a broken pipe ends it like an orderly end: `close` follows
    stream.on("close", () => {
      this.#stream = undefined;
      turns.leave(this.#onTurn);
      sink.onEnd();
    });
  }

  /** A full read means that there is more, and libuv would do up to 32 reads before it serves anything else. */
  onRead(size: number): void {
    this.#fullReads = size < PIPE_READ_BYTES ? 0 : this.#fullReads + 1;
    if (this.#fullReads < this.#turns.fullReads || this.#waiting) return;
    this.#fullReads = 0;
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
