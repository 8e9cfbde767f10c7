import type { LogPin, OutputLog } from "@codex/exec-backend";

interface Part {
  from: number;
  isWritten: boolean;
}

/** Prevents memory of live output from being reused while a channel writes it. */
export class Unwritten {
  readonly #log: OutputLog;
  #pin: LogPin | undefined;
  #isFollowing = false;
  /** Parts that were sent and may not be written yet, in order. */
  #parts: Part[] = [];
  /** Offset of the next part. */
  #end = 0;

  constructor(log: OutputLog) {
    this.#log = log;
  }

  /** Output from this offset on will be sent. */
  begin(offset: number): void {
    this.#isFollowing = true;
    this.#end = offset;
    this.#pin ??= this.#log.pin?.(offset);
  }

  /** A part of the output is being sent. Returns a function to call once it is written, which may never happen. */
  add(from: number, to: number): () => void {
    const part = { from, isWritten: false };
    this.#parts.push(part);
    this.#end = to;
    return () => {
      part.isWritten = true;
      this.#advance();
    };
  }

  /** Nothing will be sent before the next `begin`. */
  finish(): void {
    this.#isFollowing = false;
    this.#advance();
  }

  /** Retains everything: the channel does not report what it has written. */
  keepAll(): void {
    this.#pin?.keepAll();
  }

  /** The channel was lost: it may still read parts that it has not written. */
  rewind(offset: number): void {
    if (this.#parts.length > 0) this.#pin?.keepAll();
    this.#parts = [];
    this.#end = offset;
  }

  #advance(): void {
    while (this.#parts[0]?.isWritten) this.#parts.shift();
    if (this.#parts.length > 0 || this.#isFollowing) return this.#pin?.move(this.#parts[0]?.from ?? this.#end);
    this.#pin?.release();
    this.#pin = undefined;
  }
}
