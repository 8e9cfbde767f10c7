import { TAIL_BYTES } from "./limits.js";

/** The end of the output of one call, as text of at most 4 KB. */
export class OutputTail {
  #bytes: Buffer = Buffer.alloc(0);
  #isChanged = false;
  #notify = () => {};

  add(bytes: Uint8Array): void {
    this.#bytes = Buffer.concat([this.#bytes, bytes.subarray(-TAIL_BYTES)]).subarray(-TAIL_BYTES);
    this.#isChanged = true;
    this.#notify();
  }

  /** Resolves when there is output that `take` has not returned. */
  changed(): Promise<void> {
    if (this.#isChanged) return Promise.resolve();
    return new Promise((resolve) => {
      this.#notify = resolve;
    });
  }

  take(): string {
    this.#isChanged = false;
    const text = withoutPartialCharacter(this.#bytes).toString();
    // Bytes that are no text became longer.
    return withoutPartialCharacter(Buffer.from(text).subarray(-TAIL_BYTES)).toString();
  }
}

/** Without continuation bytes in front, whose character began before. */
function withoutPartialCharacter(bytes: Buffer): Buffer {
  const start = bytes.findIndex((byte) => (byte & 0xc0) !== 0x80);
  return start > 0 && start < 4 ? bytes.subarray(start) : bytes;
}
