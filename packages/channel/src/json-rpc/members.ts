const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const BRACE_BIT = 0x20;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Characters of a string that are scanned one by one before a native search takes over. */
const SHORT_STRING = 24;

/** Characters that are scanned for an integer and the white space around it. */
const MAX_INTEGER_TEXT = 64;

/** The number of members of the object in a valid JSON text, counting repeated keys each time. */
export function countMembers(text: string): number {
  let count = 0;
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit === QUOTE) i = endOfString(text, i + 1);
    else if ((unit | BRACE_BIT) === OPEN_OBJECT) depth++;
    else if ((unit | BRACE_BIT) === CLOSE_OBJECT) depth--;
    else if (unit === COLON && depth === 1) count++;
  }
  return count;
}

/** The digits of an integer member of the object of a valid JSON text. */
export function getInteger(text: string, name: string): string | undefined {
  let depth = 0;
  let key = "";
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit === QUOTE) {
      const end = endOfString(text, i + 1);
      if (depth === 1) key = text.slice(i, end + 1);
      i = end;
    } else if ((unit | BRACE_BIT) === OPEN_OBJECT) depth++;
    else if ((unit | BRACE_BIT) === CLOSE_OBJECT) depth--;
    else if (unit === COLON && depth === 1 && JSON.parse(key) === name) {
      return /^\s*(-?\d+)\s*[,}]/.exec(text.slice(i + 1, i + 1 + MAX_INTEGER_TEXT))?.[1];
    }
  }
  return undefined;
}

/** Index of the quote that ends the string which begins at `from`, or the length. */
function endOfString(text: string, from: number): number {
  let i = from;
  for (const short = from + SHORT_STRING; i < short; i++) {
    const unit = text.charCodeAt(i);
    if (unit === QUOTE) return i;
    if (unit === BACKSLASH) i++;
  }
  let end = text.indexOf('"', i);
  while (end !== -1 && isEscaped(text, end, i)) end = text.indexOf('"', end + 1);
  return end === -1 ? text.length : end;
}

/** Whether an odd number of backslashes precedes `at`, counting none before `from`. */
function isEscaped(text: string, at: number, from: number): boolean {
  let i = at;
  while (i > from && text.charCodeAt(i - 1) === BACKSLASH) i--;
  return (at - i) % 2 === 1;
}
