/**
 * The words of a line as a POSIX shell would pass them, without expansion: quotes, backslashes and comments only.
 * Undefined when a quote is open or the line ends with a backslash.
 */
export function splitWords(line: string): string[] | undefined {
  const words: string[] = [];
  const piece = /([ \t\n]+)|(\\\n)|\\([\s\S])|'([^']*)'|"((?:[^"\\]|\\[\s\S])*)"|([\s\S])/gy;
  let word: string | undefined;
  for (let at = 0; at < line.length; at = piece.lastIndex) {
    if (word === undefined && line[at] === "#") {
      const end = line.indexOf("\n", at);
      if (end === -1) break;
      piece.lastIndex = end;
      continue;
    }
    const [, space, continuation, escaped, single, double, plain] = piece.exec(line) ?? [];
    if (space !== undefined) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else if (continuation === undefined) {
      const text = escaped ?? single ?? double?.replace(/\\([$`"\\\n])/g, removeBackslash) ?? plain ?? "";
      if (plain !== undefined && "\"'\\".includes(plain)) return undefined;
      word = (word ?? "") + text;
    }
  }
  return word === undefined ? words : [...words, word];
}

function removeBackslash(_match: string, character: string): string {
  return character === "\n" ? "" : character;
}

/** One line a POSIX shell splits into exactly these words. */
export function joinWords(words: readonly string[]): string {
  return words.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(" ");
}
