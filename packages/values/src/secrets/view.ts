/** A text with some encodings undone. */
export interface View {
  text: string;
  /** Where each unit, and the end, is in the original text; undefined for the original text itself. */
  starts?: readonly number[];
}

/** Undoes percent-encoding and the escapes of JSON and HTML once; undefined when there are none. */
export function decodeOnce({ text, starts }: View): View | undefined {
  let at = 0;
  let decoded = "";
  const found: number[] = [];
  const add = (piece: string, from: number, isOne: boolean) => {
    for (let unit = 0; unit < piece.length; unit += 1) {
      const index = isOne ? from : from + unit;
      found.push(starts?.[index] ?? index);
    }
    decoded += piece;
  };
  for (const match of text.matchAll(ENCODED)) {
    const piece = decode(match[0]);
    if (piece === undefined) continue;
    add(text.slice(at, match.index), at, false);
    add(piece, match.index, true);
    at = match.index + match[0].length;
  }
  if (at === 0) return undefined;
  add(text.slice(at), at, false);
  found.push(starts?.[text.length] ?? text.length);
  return { text: decoded, starts: found };
}

/** One encoded character; the bytes of one character of UTF-8 together. */
const ENCODED =
  /%[0-7][0-9a-f]|%[cd][0-9a-f]%[89ab][0-9a-f]|%e[0-9a-f](?:%[89ab][0-9a-f]){2}|%f[0-7](?:%[89ab][0-9a-f]){3}|\\(?:u[0-9a-f]{4}|["\\/bfnrt])|&(?:#\d{1,7}|#x[0-9a-f]{1,6}|amp|lt|gt|quot|apos);/gi;

const NAMED: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };
const ESCAPED: Readonly<Record<string, string>> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };

function decode(encoded: string): string | undefined {
  if (encoded.startsWith("%")) {
    const bytes = encoded.slice(1).split("%");
    return new TextDecoder().decode(Uint8Array.from(bytes, (hex) => Number.parseInt(hex, 16)));
  }
  const name = encoded.slice(1, encoded.startsWith("&") ? -1 : undefined);
  if (encoded.startsWith("\\")) {
    return /^u/i.test(name) && name.length > 1
      ? String.fromCharCode(Number.parseInt(name.slice(1), 16))
      : (ESCAPED[name] ?? name);
  }
  if (!name.startsWith("#")) return NAMED[name.toLowerCase()];
  const code = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number.parseInt(name.slice(1), 10);
  return code <= 0x10ffff ? String.fromCodePoint(code) : undefined;
}
