import { type Connection, MESSAGE_OVERHEAD_BYTES } from "../sockets/connection.js";

/** Limits of `FairWriter`. */
export interface FairWriterLimits {
  /** Bytes buffered in the connection. */
  windowBytes: number;
  /** Queued bytes of one sender above which it is paused. */
  maxWaitingBytes: number;
}

/** The queue of one sender at a `FairWriter`. */
export interface WriterLine {
  /** False until `open` is called; frames are queued. */
  readonly isOpen: boolean;
  /** Sends a frame, immediately or on its turn. Pauses the sender while too much is queued. */
  write(frame: Buffer): void;
  /** Starts sending frames. */
  open(): void;
  /** Calls `done` when the queue is empty, possibly synchronously; frames of a line that was never opened are dropped. */
  end(done: () => void): void;
}

/**
 * Multiplexes several senders onto one connection. Frames of a sender stay in order; while the connection is congested, senders
 * take turns, and each is paused only by its own queue.
 */
export class FairWriter {
  readonly #connection: Connection;
  readonly #limits: FairWriterLimits;
  /** Open lines with frames, the next one first. */
  readonly #turns = new Set<Line>();
  #isClosed = false;

  constructor(connection: Connection, limits: FairWriterLimits) {
    this.#connection = connection;
    this.#limits = limits;
    connection.onDrain(() => this.#flush());
    connection.onClose(() => {
      this.#isClosed = true;
      for (const line of this.#turns) line.discard();
      this.#turns.clear();
    });
  }

  /** Whether the connection is closed; writes are ignored. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Creates a line for a sender, initially not open. */
  addLine(sender: Pick<Connection, "pause" | "resume">): WriterLine {
    const send = (line: Line, frame: Buffer | undefined) => {
      if (frame !== undefined && this.#turns.size === 0 && this.#hasRoom()) return this.#connection.send(frame, true);
      if (frame !== undefined) line.push(frame);
      this.#turns.add(line);
      this.#flush();
    };
    return new Line(sender, this.#limits.maxWaitingBytes, send);
  }

  #hasRoom(): boolean {
    return this.#isClosed || this.#connection.unsentBytes < this.#limits.windowBytes;
  }

  #flush(): void {
    while (this.#hasRoom()) {
      const [line] = this.#turns;
      if (line === undefined) return;
      this.#turns.delete(line);
      const frame = line.shift();
      if (frame !== undefined) this.#connection.send(frame, true);
      if (!line.isEmpty) this.#turns.add(line);
    }
  }
}

class Line implements WriterLine {
  isOpen = false;
  readonly #sender: Pick<Connection, "pause" | "resume">;
  readonly #maxBytes: number;
  /** Sends a frame, or queues the line for its turn. */
  readonly #send: (line: Line, frame: Buffer | undefined) => void;
  readonly #frames: Buffer[] = [];
  #bytes = 0;
  #isPaused = false;
  #done: (() => void) | undefined;

  constructor(
    sender: Pick<Connection, "pause" | "resume">,
    maxBytes: number,
    send: (line: Line, frame: Buffer | undefined) => void,
  ) {
    this.#sender = sender;
    this.#maxBytes = maxBytes;
    this.#send = send;
  }

  get isEmpty(): boolean {
    return this.#frames.length === 0;
  }

  write(frame: Buffer): void {
    if (this.isOpen && this.isEmpty) this.#send(this, frame);
    else this.push(frame);
  }

  open(): void {
    this.isOpen = true;
    if (!this.isEmpty) this.#send(this, undefined);
  }

  end(done: () => void): void {
    this.#done = done;
    if (!this.isOpen || this.isEmpty) this.discard();
  }

  push(frame: Buffer): void {
    this.#frames.push(frame);
    this.#bytes += frame.length + MESSAGE_OVERHEAD_BYTES;
    if (this.#bytes < this.#maxBytes || this.#isPaused) return;
    this.#isPaused = true;
    this.#sender.pause();
  }

  shift(): Buffer | undefined {
    const frame = this.#frames.shift();
    this.#bytes -= frame === undefined ? 0 : frame.length + MESSAGE_OVERHEAD_BYTES;
    if (this.#isPaused && this.#bytes < this.#maxBytes / 2) {
      this.#isPaused = false;
      this.#sender.resume();
    }
    if (this.isEmpty) this.#finish();
    return frame;
  }

  discard(): void {
    this.#frames.length = 0;
    this.#bytes = 0;
    this.#finish();
  }

  #finish(): void {
    const done = this.#done;
    this.#done = undefined;
    done?.();
  }
}
