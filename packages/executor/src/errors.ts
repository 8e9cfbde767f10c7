/** What a tool answers as an error outcome: a message the model can act on. */
export class ToolError extends Error {
  override readonly name = "ToolError";
}

/** The message of whatever was thrown. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
