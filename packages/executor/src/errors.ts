import type { ToolCallOutcome } from "@codex/executor-protocol";
import { defined } from "@codex/values";

/**
 * Thrown by a tool to return an error outcome: `message` is for the model, which should be able to act on it.
 * `throw new ToolError("no such table", { code: "not_found", cause: error })`
 */
export class ToolError extends Error {
  override readonly name = "ToolError";
  /** For programs, such as `not_found`. */
  readonly code: string | undefined;
  constructor(message: string, { code, ...options }: ErrorOptions & { code?: string } = {}) {
    super(message, options);
    this.code = code;
  }
}

export const toErrorOutcome = ({ message, code }: ToolError): ToolCallOutcome => ({
  status: "error",
  message,
  ...defined({ code }),
});
