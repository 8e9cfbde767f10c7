import { createErrorAt } from "../errors.js";
import type { Source } from "../source.js";

export interface StringLiteral {
  readonly prefix: string;
  readonly bodyStart: number;
  readonly bodyEnd: number;
  readonly end: number;
}

/** Finds the end of the literal whose prefix starts at `at`; undefined when no string starts there. */
export function readStringLiteral(source: Source, at: number): StringLiteral | undefined {
  const start = /(?:rb|br|fr|[rbf])?(?:"""|'''|"|')/y;
  start.lastIndex = at;
  const opening = start.exec(source.text)?.[0];
  if (opening === undefined) return undefined;
  const prefix = opening.replace(/["']+/, "");
  const quote = opening.slice(prefix.length);
  const bodyStart = at + opening.length;
  for (let index = bodyStart; index < source.text.length; index += 1) {
    const character = source.text[index];
    if (source.text.startsWith(quote, index)) {
      return { prefix, bodyStart, bodyEnd: index, end: index + quote.length };
    }
    if (character === "\\") index += source.text.startsWith("\r\n", index + 1) ? 2 : 1;
    else if (character === "\n" && quote.length === 1) break;
  }
  throw createErrorAt(source, at, "this string is not closed", `Add the closing ${quote}.`);
}

/** The value of the text between two offsets of a literal, escapes resolved. */
export function decodeString(source: Source, start: number, end: number, raw: boolean): string {
  const body = source.text.slice(start, end).replace(/\r\n/g, "\n");
  if (!body.includes("\\")) return body;
  if (raw) return body.replace(/\\(["'])/g, "$1");
  return body.replace(ESCAPE, (written: string) => decodeEscape(written) ?? failEscape(source, start, written));
}

const ESCAPE = /\\(?:x[0-9a-fA-F]{0,2}|u[0-9a-fA-F]{0,4}|U[0-9a-fA-F]{0,8}|[0-7]{1,3}|[\s\S]?)/gu;

const SIMPLE_ESCAPES: ReadonlyMap<string, string> = new Map([
  ["a", "\x07"],
  ["b", "\b"],
  ["f", "\f"],
  ["n", "\n"],
  ["t", "\t"],
  ["v", "\v"],
  ["r", "\r"],
  ["\\", "\\"],
  ['"', '"'],
  ["'", "'"],
  ["\n", ""],
]);

/** Undefined when the escape is malformed. An unknown one stays as written, backslash included. */
function decodeEscape(written: string): string | undefined {
  const body = written.slice(1);
  const simple = SIMPLE_ESCAPES.get(body);
  if (simple !== undefined) return simple;
  if (/^[0-7]/.test(body)) return String.fromCodePoint(Number.parseInt(body, 8));
  const digits = { x: 2, u: 4, U: 8 }[body[0] ?? ""];
  if (digits === undefined) return written;
  if (body.length !== digits + 1) return undefined;
  const codePoint = Number.parseInt(body.slice(1), 16);
  const isScalar = codePoint <= 0x10ffff && !(codePoint >= 0xd800 && codePoint <= 0xdfff);
  return isScalar ? String.fromCodePoint(codePoint) : undefined;
}

function failEscape(source: Source, start: number, written: string): never {
  const at = source.text.indexOf(written, start);
  throw createErrorAt(
    source,
    at === -1 ? start : at,
    `\`${written}\` is not a valid escape`,
    "Write \\xHH, \\uHHHH or \\UHHHHHHHH with a Unicode scalar value, or \\\\ for a backslash.",
  );
}
