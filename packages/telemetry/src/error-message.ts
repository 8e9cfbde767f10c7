/** What an error says, in its own words; of anything else that was thrown, the text of it. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
