/** Quotes a word for bash, zsh and fish. */
export const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
