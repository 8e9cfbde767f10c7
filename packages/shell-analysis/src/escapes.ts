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
export const decodeQuoted = (text: string): string => decodeEscapes(text).split("\0", 1)[0] ?? "";

/** The escapes of `$'…'` and `printf`. */
export function decodeEscapes(text: string): string {
  const escapes = /\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|([0-7]{1,3})|c([\s\S])|([\s\S]))/g;
  const decoded = text.replace(
    escapes,
    (_match, hex?: string, short?: string, long?: string, octal?: string, letter?: string, other = "") => {
      if (letter !== undefined) return String.fromCharCode(letter.charCodeAt(0) & 0x1f);
      if (octal !== undefined) return String.fromCodePoint(Number.parseInt(octal, 8) & 0xff);
      const digits = hex ?? short ?? long;
      if (digits === undefined) return SIMPLE_ESCAPES[other] ?? other;
      const codePoint = Number.parseInt(digits, 16);
      return codePoint <= 0x10ffff ? String.fromCodePoint(codePoint) : "";
    },
  );
  return decoded;
}
