/** Splits words like a shell, with quotes and backslashes only. Undefined for an unclosed quote. */
export function splitWords(text: string): string[] | undefined {
  const words: string[] = [];
  let word: string | undefined;
  for (let rest = text; rest !== ""; ) {
    const token = TOKEN.exec(rest)?.[0];
    if (token === undefined) return undefined;
    rest = rest.slice(token.length);
    if (/^\s/.test(token)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else {
      word = (word ?? "") + unquote(token);
    }
  }
  return word === undefined ? words : [...words, word];
}

const TOKEN = /^(?:\s+|'[^']*'|"(?:[^"\\]|\\.)*"|\\.|[^\s'"\\]+)/s;

function unquote(token: string): string {
  if (token.startsWith("'")) return token.slice(1, -1);
  if (token.startsWith('"')) return token.slice(1, -1).replace(/\\(["\\$`])/g, "$1");
  return token.startsWith("\\") ? token.slice(1) : token;
}
