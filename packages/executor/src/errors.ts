import type { ToolCallOutcome } from "@codex/executor-protocol";

/** What a tool answers as an error outcome: a message the model can act on. */
export class ToolError extends Error {
  override readonly name = "ToolError";
  /** The same for programs. */
  readonly code: string | undefined;
  constructor(message: string, { code, ...options }: ErrorOptions & { code?: string } = {}) {
    super(message, options);
    this.code = code;
  }
}

export const toErrorOutcome = ({ message, code }: ToolError): ToolCallOutcome => ({
  status: "error",
  message,
  ...(code === undefined ? {} : { code }),
});

/** The message of whatever was thrown. */
