/**
 * Bytes of one output stream of a process. Paused, it reads nothing, so the process blocks once the kernel's buffer is
 * full.
 */
export interface ByteSource {
  pause(): void;
  resume(): void;
  /** Closes the descriptor without reading further; `onEnd` is called. Idempotent. */
  close(): void;
}

/** Where the bytes of a source go. */
export interface ByteSink {
  onBytes(bytes: Buffer): void;
  /** Called once, after the last byte: the stream ended or broke, and nothing more can be read from it. */
  onEnd(): void;
}
