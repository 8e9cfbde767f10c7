/**
 * Text of a model, a file or a program for a terminal: lines and tabs stay, other control characters, and those that
 * change the direction or the look of what follows, are written as escapes.
 */
export const visibleText = (text: string): string =>
  text.replace(/\r\n/g, "\n").replace(/[^\n\t\P{C}]|\p{Zl}|\p{Zp}/gu, escapeCharacter);

const escapeCharacter = (char: string): string => `\\u{${char.codePointAt(0)!.toString(16)}}`;
