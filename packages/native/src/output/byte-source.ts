/**
 * An output stream of a process. While paused it reads nothing, so the process blocks once the kernel's buffer is full.
 */
export interface ByteSource {
  pause(): void;
  resume(): void;
  /** Closes the descriptor without reading further; `onEnd` is called. Idempotent. */
  close(): void;
}

/** Receives the bytes of a source. */
export interface ByteSink {
  onBytes(bytes: Buffer): void;
  /** Called once, after the last byte, when the stream has ended or failed. */
  onEnd(): void;
}
