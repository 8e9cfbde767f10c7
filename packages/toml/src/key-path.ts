/** The parts of a dotted TOML key, such as `a."b.c".'d'`; undefined when the text is not one. */
export function parseKeyPath(text: string): string[] | undefined {
  const found = readKeyPath(text, 0);
  return found?.end === text.length ? found.parts : undefined;
}

/** A dotted key at a position of a text, with the blanks around it; `end` is the position behind them. */
export function readKeyPath(text: string, start: number): { parts: string[]; end: number } | undefined {
  const parts: string[] = [];
  for (let at = start; ; at += 1) {
    const from = skipBlanks(text, at);
    const to = findPartEnd(text, from);
    const part = to === undefined ? undefined : readPart(text.slice(from, to));
    if (to === undefined || part === undefined) return undefined;
    parts.push(part);
    at = skipBlanks(text, to);
    if (text[at] !== ".") return { parts, end: at };
  }
}

// Loops instead of regular expressions, which would have to be compiled at each start of the `codex` command.

/** The position of the first character that is no blank, a line's end included. */
export function skipBlanks(text: string, start: number): number {
  let at = start;
  while (text[at] === " " || text[at] === "\t" || text[at] === "\r" || text[at] === "\n") at += 1;
  return at;
}

/** Undefined where no part of a key begins, or a quote is not closed. */
function findPartEnd(text: string, start: number): number | undefined {
  const quote = text[start];
  if (quote !== '"' && quote !== "'") {
    let end = start;
    while (isBare(text.charCodeAt(end))) end += 1;
    return end === start ? undefined : end;
  }
  for (let at = start + 1; at < text.length && text[at] !== "\n"; at += 1) {
    if (text[at] === quote) return at + 1;
    if (quote === '"' && text[at] === "\\") at += 1;
  }
  return undefined;
}

/** `A-Z`, `a-z`, `0-9`, `-` and `_`; not NaN, which is the code behind the end. */
const isBare = (code: number): boolean =>
  (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || (code >= 48 && code <= 57) || code === 45 || code === 95;

/** TOML's escapes that JSON lacks do not occur in keys in practice. */
function readPart(written: string): string | undefined {
  if (written.startsWith("'")) return written.slice(1, -1);
  if (!written.startsWith('"')) return written;
  try {
    return JSON.parse(written) as string; // what is between two double quotes
  } catch {
    return undefined;
  }
}

/** The parts as one dotted key. */
export const renderKeyPath = (parts: readonly string[]): string =>
  parts.map((part) => (/^[A-Za-z0-9_-]+$/.test(part) ? part : JSON.stringify(part))).join(".");
