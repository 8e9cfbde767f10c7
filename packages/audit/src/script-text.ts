/** A word of a script and its position in the text. */
export interface TextWord {
  from: number;
  /** Exclusive. */
  to: number;
  /** The word without its quotes, approximately. */
  value: string;
}

/** A word of quoted parts, escaped and other characters; or the end of a command. An unclosed quote extends to the end. */
const TOKENS = /((?:"(?:[^"\\]|\\[\s\S])*"?|'[^']*'?|\\[\s\S]|[^\s;&|()<>"'\\`])+)|([;&|()\n`]|\$\()/g;

/** The commands of a script, split approximately: enough to determine which word follows which. Linear in its length. */
export function readCommandWords(text: string): TextWord[][] {
  const commands: TextWord[][] = [[]];
  for (const match of text.matchAll(TOKENS)) {
    const [whole, word] = match;
    if (word === undefined) commands.push([]);
    else {
      const value = word.replace(/\\([\s\S])|["']/g, "$1");
      commands.at(-1)?.push({ from: match.index, to: match.index + whole.length, value });
    }
  }
  return commands.filter((words) => words.length > 0);
}
