/** The answer to a request; undefined for a notification. */
export function respond(message: unknown): object | undefined;
