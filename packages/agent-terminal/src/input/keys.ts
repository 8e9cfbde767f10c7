import { StringDecoder } from "node:string_decoder";
import type { Clock } from "@codex/clock";
import { ESCAPE_WAIT_MS, MAX_PROMPT_BYTES } from "../limits.js";

/** A key press, text or a paste. `raw` is the terminal's input. */
export type Key =
  | { readonly name: "text" | "paste"; readonly text: string; readonly raw: string }
  | { readonly name: KeyName; readonly raw: string };

/** Keys that insert no text. */
type KeyName =
  | "enter"
  | "newline"
  | "backspace"
  | "delete"
  | "delete_word"
  | "delete_to_start"
  | "delete_to_end"
  | "left"
  | "right"
  | "word_left"
  | "word_right"
  | "up"
  | "down"
  | "home"
  | "end"
  | "interrupt"
  | "end_of_input"
  | "suspend"
  | "redraw"
  | "unknown";

const PASTE_START = "\u001b[200~";
const PASTE_END = "\u001b[201~";

/** Parses the input of a terminal in raw mode to keys. A paste is one key. */
export class KeyReader {
  readonly #decoder = new StringDecoder("utf8");
  readonly #clock: Pick<Clock, "after">;
  readonly #onKey: (key: Key) => void;
  #pending = "";
  /** Text of an incomplete paste. */
  #paste: string[] | undefined;
  #pasteChars = 0;
  #cancelWait = () => {};

  constructor(clock: Pick<Clock, "after">, onKey: (key: Key) => void) {
    this.#clock = clock;
    this.#onKey = onKey;
  }

  push(bytes: Uint8Array): void {
    this.#cancelWait();
    this.#pending += this.#decoder.write(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    while (this.#pending !== "" && this.#takeOne());
    // A sequence may be split between two reads; a lone Escape is recognized by a timeout.
    if (this.#pending !== "" && this.#paste === undefined) {
      this.#cancelWait = this.#clock.after(ESCAPE_WAIT_MS, () => {
        const raw = this.#pending;
        this.#pending = "";
        this.#onKey({ name: "unknown", raw });
      });
    }
  }

  /** Cancels the timeout of an incomplete sequence. */
  close(): void {
    this.#cancelWait();
  }

  /** Returns false when more input is needed. */
  #takeOne(): boolean {
    if (this.#paste !== undefined) return this.#takePaste();
    if (this.#pending.startsWith(PASTE_START)) {
      this.#pending = this.#pending.slice(PASTE_START.length);
      this.#paste = [];
      this.#pasteChars = 0;
      return true;
    }
    const [raw, key] = readKey(this.#pending);
    if (raw === "") return false;
    this.#pending = this.#pending.slice(raw.length);
    this.#onKey(key);
    return true;
  }

  #takePaste(): boolean {
    const end = this.#pending.indexOf(PASTE_END);
    // The end marker may be split between two reads.
    const kept = end === -1 ? Math.max(0, this.#pending.length - PASTE_END.length + 1) : end;
    const text = this.#pending.slice(0, kept);
    this.#pending = this.#pending.slice(kept);
    if (text !== "" && this.#pasteChars < MAX_PROMPT_BYTES) this.#paste!.push(text);
    this.#pasteChars += text.length;
    if (end === -1) return false;
    this.#pending = this.#pending.slice(PASTE_END.length);
    const raw = this.#paste!.join("");
    this.#paste = undefined;
    this.#onKey({ name: "paste", text: cleanText(raw), raw });
    return true;
  }
}

/** Normalizes line ends to `\n`, and replaces control characters with U+FFFD. */
const cleanText = (text: string): string =>
  text.replace(/\r\n?/g, "\n").replace(/[\u0000-\u0008\u000b-\u001f\u007f]/g, "\ufffd");

/** Parses the first key of the input; an empty `raw` when it is incomplete. */
function readKey(input: string): [raw: string, key: Key] {
  const text = /^[^\u0000-\u001f\u007f]+/.exec(input)?.[0];
  if (text !== undefined) return [text, { name: "text", text, raw: text }];
  if (input[0] !== "\u001b") return named(input[0]!, CONTROLS[input[0]!]);
  if (input.length === 1) return ["", UNKNOWN];
  const sequence = /^\u001b(?:\[[0-?]*[ -/]*[@-~]|O[@-~])/.exec(input)?.[0];
  if (sequence !== undefined) return named(sequence, SEQUENCES[sequence.slice(1)]);
  if (input[1] === "[" || input[1] === "O")
    return input.length > MAX_SEQUENCE ? named(input, undefined) : ["", UNKNOWN];
  return named(input.slice(0, 2), ALTERED[input[1]!]);
}

const UNKNOWN: Key = { name: "unknown", raw: "" };
const MAX_SEQUENCE = 32;
const named = (raw: string, name: KeyName = "unknown"): [string, Key] => [raw, { name, raw }];

const CONTROLS: Readonly<Record<string, KeyName>> = {
  "\r": "enter",
  // Typed before raw mode was enabled.
  "\n": "enter",
  "\u0001": "home",
  "\u0002": "left",
  "\u0003": "interrupt",
  "\u0004": "end_of_input",
  "\u0005": "end",
  "\u0006": "right",
  "\b": "backspace",
  "\u000b": "delete_to_end",
  "\f": "redraw",
  "\u000e": "down",
  "\u0010": "up",
  "\u0015": "delete_to_start",
  "\u0017": "delete_word",
  "\u001a": "suspend",
  "\u007f": "backspace",
};

/** Sequences after Escape. */
const SEQUENCES: Readonly<Record<string, KeyName>> = {
  "[A": "up",
  "[B": "down",
  "[C": "right",
  "[D": "left",
  OA: "up",
  OB: "down",
  OC: "right",
  OD: "left",
  "[H": "home",
  "[F": "end",
  OH: "home",
  OF: "end",
  "[1~": "home",
  "[4~": "end",
  "[7~": "home",
  "[8~": "end",
  "[3~": "delete",
  "[1;5C": "word_right",
  "[1;5D": "word_left",
  "[1;3C": "word_right",
  "[1;3D": "word_left",
  "[13;2u": "newline",
};

const ALTERED: Readonly<Record<string, KeyName>> = {
  "\r": "newline",
  "\n": "newline",
  b: "word_left",
  f: "word_right",
  "\u007f": "delete_word",
};
