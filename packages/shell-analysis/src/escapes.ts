import { MAX_LITERAL_OUTPUT } from "./limits.js";

const SIMPLE_ESCAPES: Readonly<Record<string, string>> = {
  a: "\x07",
  b: "\b",
  e: "\x1b",
  E: "\x1b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
};

/** The escapes of `$'…'`: a null character ends the text. */
export function decodeQuoted(text: string): string {
  const decoded = decodeEscapes(
    text.replace(/(\\[^c])|\\c([\s\S])/g, (match, other?: string, letter = "") =>
      other === undefined ? String.fromCharCode(letter.charCodeAt(0) & 0x1f) : match,
    ),
  );
  return decoded.split("\0", 1)[0] ?? "";
}

/** The escapes of `echo -e` and `%b`: `\c` ends the output. */
export function decodePrinted(text: string): { text: string; isEnd: boolean } {
  const end = /^(?:[^\\]|\\[^c])*?(?=\\c)/s.exec(text)?.[0];
  return { text: decodeEscapes(end ?? text), isEnd: end !== undefined };
}

/** The escapes of a format of `printf`. */
export function decodeEscapes(text: string): string {
  const escapes = /\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|0?([0-7]{1,3})|([\s\S]))/g;
  const decoded = text.replace(
    escapes,
    (_match, hex?: string, short?: string, long?: string, octal?: string, other = "") => {
      if (octal !== undefined) return String.fromCodePoint(Number.parseInt(octal, 8) & 0xff);
      const digits = hex ?? short ?? long;
      if (digits === undefined) return SIMPLE_ESCAPES[other] ?? other;
      const codePoint = Number.parseInt(digits, 16);
      return codePoint <= 0x10ffff ? String.fromCodePoint(codePoint) : "";
    },
  );
  return decoded.slice(0, MAX_LITERAL_OUTPUT);
}
