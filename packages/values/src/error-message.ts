/** The message of an error; for any other thrown value its text. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** An error as it is; any other thrown value as an error with its text. */
export const toError = (thrown: unknown): Error => (thrown instanceof Error ? thrown : new Error(String(thrown)));
