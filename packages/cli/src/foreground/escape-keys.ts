const CTRL_C = 0x03;
const TILDE = 0x7e;
const DOT = 0x2e;
const isLineEnd = (byte: number): boolean => byte === 0x0d || byte === 0x0a;

/** A key sequence in typed input: Ctrl-C; or one that gives up: Ctrl-C twice in a row, or `~.` at the beginning of a line. */
export type Escape = "interrupt" | "interrupt twice" | "tilde";

/** Detects keys that are meant for this command while the executor does not accept input. The first byte counts as the beginning of a line. */
export class EscapeKeys {
  #beforeTilde = true;
  #afterTilde = false;
  #interrupts = 0;

  /** The strongest sequence in these bytes, which follow those of earlier calls. */
  read(bytes: Uint8Array): Escape | undefined {
    let found: Escape | undefined;
    for (const byte of bytes) {
      if (this.#afterTilde && byte === DOT) return "tilde";
      this.#afterTilde = this.#beforeTilde && byte === TILDE;
      this.#beforeTilde = isLineEnd(byte) || byte === CTRL_C;
      this.#interrupts = byte === CTRL_C ? this.#interrupts + 1 : 0;
      if (this.#interrupts > 1) return "interrupt twice";
      if (this.#interrupts === 1) found = "interrupt";
    }
    return found;
  }
}
