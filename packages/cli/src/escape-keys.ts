const CTRL_C = 0x03;
const TILDE = 0x7e;
const DOT = 0x2e;
const isLineEnd = (byte: number): boolean => byte === 0x0d || byte === 0x0a;

/** What was found in what was typed: Ctrl-C alone, or what leaves: Ctrl-C a second time in a row, or `~.` where a line begins. */
export type Escape = "interrupt" | "interrupt twice" | "tilde";

/** Looks for keys that are meant for this command while nobody takes what is typed. A line begins where looking does. */
export class EscapeKeys {
  #beforeTilde = true;
  #afterTilde = false;
  #interrupts = 0;

  /** The strongest there is in these bytes, after those before. */
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
