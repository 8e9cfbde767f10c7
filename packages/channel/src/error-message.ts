/** The message of an error; of any other thrown value, `String(value)`. A copy of that in `@codex/telemetry`, as this package has no dependencies. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
