/** A word for any of the shells. */
export const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
