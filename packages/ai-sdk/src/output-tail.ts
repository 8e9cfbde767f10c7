import { TAIL_BYTES } from "./limits.js";

/** The last 4 KB of one call's output, as text. */
export class OutputTail {
  #bytes: Buffer = Buffer.alloc(0);
  #isChanged = false;
  #notify = () => {};

  add(bytes: Uint8Array): void {
    this.#bytes = Buffer.concat([this.#bytes, bytes.subarray(-TAIL_BYTES)]).subarray(-TAIL_BYTES);
    this.#isChanged = true;
    this.#notify();
  }

  /** Resolves when there is output that `take` has not returned yet. */
  changed(): Promise<void> {
    if (this.#isChanged) return Promise.resolve();
    return new Promise((resolve) => {
      this.#notify = resolve;
    });
  }

  take(): string {
    this.#isChanged = false;
    const text = withoutPartialCharacter(this.#bytes).toString();
    // Each invalid byte became a replacement character of three bytes.
    return withoutPartialCharacter(Buffer.from(text).subarray(-TAIL_BYTES)).toString();
  }
}

/** Drops leading UTF-8 continuation bytes, whose character was cut off. */
function withoutPartialCharacter(bytes: Buffer): Buffer {
  const start = bytes.findIndex((byte) => (byte & 0xc0) !== 0x80);
  return start > 0 && start < 4 ? bytes.subarray(start) : bytes;
}
