/** Words as a user would type them. */
export const quoteWords = (words: readonly string[]): string => words.map(quoteWord).join(" ");

const quoteWord = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;

/** The words of a line, with single and double quotes and backslashes; undefined if a quote is not closed. */
export function splitWords(line: string): string[] | undefined {
  const words: string[] = [];
  let word: string | undefined;
  for (let at = 0; at < line.length; at++) {
    const character = line[at]!;
    if (character === "'" || character === '"') {
      const end = line.indexOf(character, at + 1);
      if (end === -1) return undefined;
      word = (word ?? "") + line.slice(at + 1, end);
      at = end;
    } else if (character === "\\" && at + 1 < line.length) {
      at += 1;
      word = (word ?? "") + line[at];
    } else if (/\s/.test(character)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else word = (word ?? "") + character;
  }
  return word === undefined ? words : [...words, word];
}

/** Formats bytes, such as `26.0 MB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`;
  if (bytes < 1_000_000) return `${(bytes / 1000).toFixed(1)} kB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** Formats a duration in milliseconds, such as `3 min 5 s`. */
export function formatDuration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes} min ${seconds % 60} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
