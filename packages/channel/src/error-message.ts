/** The text of something that was thrown; that of an `Error` is its message. `@codex/telemetry` has the same: this package depends on no other. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
