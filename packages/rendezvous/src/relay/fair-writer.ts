import { type Connection, MESSAGE_OVERHEAD_BYTES } from "../sockets/connection.js";

/** Limits of `FairWriter`. */
export interface FairWriterLimits {
  /** Bytes handed to the connection ahead of what it takes. */
  windowBytes: number;
  /** Waiting bytes of one writer, above which it is paused. */
  maxWaitingBytes: number;
}

/** One sender's place at a `FairWriter`. */
export interface WriterLine {
  /** False until `open`: frames wait. */
  readonly isOpen: boolean;
  /** Sends a frame, at once or when it is this line's turn. Pauses the sender while too much waits. */
  write(frame: Buffer): void;
  /** Lets frames out. */
  open(): void;
  /** Calls `done` when nothing waits any more, perhaps within this call; what waits on a line that was never opened is dropped. */
  end(done: () => void): void;
}

/**
 * Writes what several senders have for one connection. Frames of a sender stay in order; while the connection is behind, senders
 * take turns, and each is paused by its own frames alone.
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

  /** Whether the connection is closed: what is written goes nowhere. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** A line for a sender; it is closed at first. */
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
  /** Sends a frame, or takes the line into the turns. */
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
