const TILDE = 0x7e;
const CTRL_C = 0x03;
const CTRL_Z = 0x1a;
const isLineEnd = (byte: number): boolean => byte === 0x0d || byte === 0x0a;

/** What is typed for this command, after `~` at the beginning of a line, as in ssh. */
export type LineEscape = "leave" | "suspend" | "help";

const ESCAPES: ReadonlyMap<number, LineEscape> = new Map([
  [".".charCodeAt(0), "leave"],
  [CTRL_Z, "suspend"],
  ["?".charCodeAt(0), "help"],
]);

/** Separates typed input from escapes. A `~` at the beginning of a line waits for the next byte; `~~` is one `~`. */
export class LineEscapes {
  #atBeginning = true;
  #afterTilde = false;

  /** What goes to the program, up to the first escape, and what follows it. */
  read(bytes: Uint8Array): { passed: Buffer; key: LineEscape | undefined; rest: Buffer } {
    const passed: number[] = [];
    for (const [index, byte] of bytes.entries()) {
      if (this.#afterTilde) {
        this.#afterTilde = false;
        const key = ESCAPES.get(byte);
        if (key !== undefined) {
          this.#atBeginning = true;
          return { passed: Buffer.from(passed), key, rest: Buffer.from(bytes.subarray(index + 1)) };
        }
        passed.push(TILDE);
        this.#atBeginning = false;
        if (byte === TILDE) continue;
      } else if (this.#atBeginning && byte === TILDE) {
        this.#afterTilde = true;
        continue;
      }
      passed.push(byte);
      this.#atBeginning = isLineEnd(byte) || byte === CTRL_C;
    }
    return { passed: Buffer.from(passed), key: undefined, rest: Buffer.alloc(0) };
  }
}

/** The escapes, for a person. @param leaving what becomes of the program that is left */
export const escapeHelp = (leaving: string): readonly string[] => [
  "at the beginning of a line:",
  `  ~.   leave; ${leaving}`,
  "  ~^Z  suspend this command",
  "  ~?   this list",
  "  ~~   a ~",
];
