/** Comparison keys of a line, strictest first: two lines match when their keys are equal. */
export const KEYS: readonly ((line: string) => string)[] = [
  (line) => line,
  (line) => line.slice(0, endOf(line)),
  (line) => trim(line),
  (line) => trim(line).replace(TYPOGRAPHIC, toAscii),
];

/** The loosest comparison, used only for error messages. */
export const looseKey = (line: string): string =>
  trim(line).replace(TYPOGRAPHIC, toAscii).replace(/\s+/g, "").toLowerCase();

const trim = (line: string): string => line.slice(startOf(line), endOf(line));

function startOf(line: string): number {
  let at = 0;
  while (at < line.length && isBlank(line.charCodeAt(at))) at += 1;
  return at;
}

function endOf(line: string): number {
  let at = line.length;
  while (at > 0 && isBlank(line.charCodeAt(at - 1))) at -= 1;
  return at;
}

/** Unicode's White_Space. */
function isBlank(code: number): boolean {
  if (code < 0x80) return code === 0x20 || (code >= 0x09 && code <= 0x0d);
  return (
    code === 0x85 ||
    code === 0xa0 ||
    code === 0x1680 ||
    (code >= 0x2000 && code <= 0x200a) ||
    code === 0x2028 ||
    code === 0x2029 ||
    code === 0x202f ||
    code === 0x205f ||
    code === 0x3000
  );
}

const TYPOGRAPHIC = /[\u2010-\u2015\u2212\u2018-\u201f\u00a0\u2002-\u200a\u202f\u205f\u3000]/g;

function toAscii(found: string): string {
  const code = found.charCodeAt(0);
  if (code >= 0x2018 && code <= 0x201b) return "'";
  if (code >= 0x201c && code <= 0x201f) return '"';
  return (code >= 0x2010 && code <= 0x2015) || code === 0x2212 ? "-" : " ";
}
