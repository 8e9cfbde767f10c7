/** A word of a script, where it stands in the text. */
export interface TextWord {
  from: number;
  /** Exclusive. */
  to: number;
  /** Without its quotes, about. */
  value: string;
}

/** Quoted parts, escaped characters, anything else; or what ends a command. An open quote goes on to the end. */
const TOKENS = /((?:"(?:[^"\\]|\\[\s\S])*"?|'[^']*'?|\\[\s\S]|[^\s;&|()<>"'\\`])+)|([;&|()\n`]|\$\()/g;

/** The commands of a script by rough reading: enough to see which word follows which. Linear in its length. */
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
