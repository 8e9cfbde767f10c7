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

/** An error about a session: `message` continues `session 5 `, or `unknown session 5; ` with the code `unknown_session`. */
export class SessionError extends ToolError {
  readonly sessionId: number;
  constructor(sessionId: number, message: string, options?: ErrorOptions & { code?: string }) {
    super(message, options);
    this.sessionId = sessionId;
  }
}

export const toErrorOutcome = (error: ToolError): ToolCallOutcome => ({
  status: "error",
  message: error.message,
  ...defined({ code: error.code, sessionId: error instanceof SessionError ? error.sessionId : undefined }),
});
