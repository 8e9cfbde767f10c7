import type { LogPin, OutputLog } from "@codex/exec-backend";

interface Part {
  from: number;
  isWritten: boolean;
}

/** Keeps the memory of live output from being reused while a channel is writing it. */
export class Unwritten {
  readonly #log: OutputLog;
  #pin: LogPin | undefined;
  #isFollowing = false;
  /** What was sent and may not be written yet, in order. */
  #parts: Part[] = [];
  /** Where the next part begins. */
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

  /** A part of the output is being sent. Call the result once it is written; it may never be. */
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

  /** It will not be known what is written. */
  keepAll(): void {
    this.#pin?.keepAll();
  }

  /** The channel was lost: what it has not written it may still read. */
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
