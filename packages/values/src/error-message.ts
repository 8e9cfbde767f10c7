/** The message of an error; of any other thrown value, `String(value)`. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
