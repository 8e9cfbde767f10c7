/** The owner of a log; see the parameters of `createOutputLog`. */
export interface LogHost {
  onPressure(pause: boolean): void;
  now(): number;
  onDropped(bytes: Buffer): void;
}

/** A position in a log without reading; see `OutputLog.hold`. */
export interface LogHold {
  /** Advances to this offset. */
  move(from: number): void;
  /** Ends the hold. Idempotent. */
  release(): void;
}

/** See `OutputLog.pin`. */
export interface LogPin extends LogHold {
  /** The bytes after the pin may be read without end: no memory of this log is reused any more. */
  keepAll(): void;
}
