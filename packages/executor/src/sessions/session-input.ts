/** Carriage return, line feed, and Ctrl-D, which end the line for the program; Ctrl-C, -U, -Z and -\\, which discard it; Esc, of a program that reads keys. */
const LINE_ENDS: ReadonlySet<number> = new Set([0x0d, 0x0a, 0x04, 0x03, 0x15, 0x1a, 0x1c, 0x1b]);

/** What was written to a session and what of it waits. */
export class SessionInput {
  #waitingBytes = 0;
  #openLineBytes = 0;

  /** Bytes that the program has not read yet. */
  get waitingBytes(): number {
    return this.#waitingBytes;
  }

  /** These bytes wait for the program. Returns a function that ends this, to be called once. */
  wait(bytes: number): () => void {
    this.#waitingBytes += bytes;
    return () => {
      this.#waitingBytes -= bytes;
    };
  }

  /** Notes what is written to a terminal. Returns the bytes of the longest line in it, of which earlier calls may have written a part. */
  noteLines(bytes: Uint8Array): number {
    let longest = 0;
    for (const byte of bytes) {
      this.#openLineBytes = LINE_ENDS.has(byte) ? 0 : this.#openLineBytes + 1;
      longest = Math.max(longest, this.#openLineBytes);
    }
    return longest;
  }
}
