import { Socket } from "node:net";
import type { ByteSink, ByteSource } from "./byte-source.js";
import { PIPE_BYTES, type ReadMemory } from "./read-memory.js";

/**
 * Reads a pipe. Takes ownership of the descriptor. Small reads are those of libuv, into a buffer of the host, and are copied out of
 * it. After a large one the pipe is enlarged, and read directly, once in a turn of the event loop, into the memory of the chunk,
 * until it is empty.
 */
export const readPipe = (fd: number, memory: ReadMemory, sink: ByteSink): ByteSource =>
  new PipeReader(fd, memory, sink);

class PipeReader implements ByteSource {
  readonly #fd: number;
  readonly #memory: ReadMemory;
  readonly #sink: ByteSink;
  /** Until it has ended. */
  #socket: Socket | undefined;
  #paused = false;
  /** The pipe is read directly; the socket is paused. */
  #isDirect = false;
  #isEnlarged = false;

  constructor(fd: number, memory: ReadMemory, sink: ByteSink) {
    this.#fd = fd;
    this.#memory = memory;
    this.#sink = sink;
    const callback = (size: number, buffer: Uint8Array) => this.#take(size, buffer);
    const options = { fd, readable: true, writable: false, onread: { buffer: memory.pipeBuffer, callback } };
    // The types lack `onread` for a socket created from a descriptor.
    const socket = new Socket(options as ConstructorParameters<typeof Socket>[0]);
    this.#socket = socket;
    socket.on("error", ignore); // `close` follows, as at an orderly end
    socket.on("close", () => {
      this.#socket = undefined;
      memory.turns.leave(this.#onTurn);
      sink.onEnd();
    });
    socket.resume();
  }

  pause(): void {
    this.#paused = true;
    if (this.#isDirect) this.#memory.turns.leave(this.#onTurn);
    else this.#socket?.pause();
  }

  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    if (this.#isDirect) this.#memory.turns.wait(this.#onTurn);
    else this.#socket?.resume();
  }

  close(): void {
    this.#socket?.destroy();
  }

  #take(size: number, buffer: Uint8Array): boolean {
    const isMuch = size >= PIPE_BYTES;
    if (isMuch) {
      this.#isDirect = true;
      this.#socket?.pause();
      this.#enlarge();
    }
    this.#sink.onBytes(this.#memory.pipeChunks.copy(buffer.subarray(0, size)));
    if (isMuch && !this.#paused) this.#memory.turns.wait(this.#onTurn);
    return true;
  }

  #enlarge(): void {
    if (this.#isEnlarged) return;
    this.#isEnlarged = true;
    this.#memory.enlargePipe(this.#fd);
  }

  readonly #onTurn = (): void => {
    if (this.#paused || this.#socket === undefined || this.#socket.destroyed) return;
    const { pipeChunks, read, turns } = this.#memory;
    const slab = pipeChunks.take();
    const size = read(this.#fd, slab, slab.length);
    if (size > 0) {
      this.#sink.onBytes(pipeChunks.fill(slab, size));
      if (!this.#paused) turns.wait(this.#onTurn);
      return;
    }
    pipeChunks.release(slab);
    // Empty, or at its end, which the socket finds.
    this.#isDirect = false;
    this.#socket.resume();
  };
}

const ignore = (): void => {};
