import type { Clock } from "@codex/clock";

/** What becomes of a program whose call the client has cancelled, or given up waiting for. */
export type OnCancel = "keep" | "interrupt" | "kill";

/** How the tools of an orchestrator are offered to MCP clients. */
export interface McpServerOptions {
  /** Longest that a call is held, milliseconds from 250 to 300,000; then its program goes on as a session. Default 50,000. */
  maxHoldMs?: number;
  /** `keep` (default): the session goes on, and the next result begins with a note that names it. */
  onCancel?: OnCancel;
  /** Results have `structuredContent` beside the text. Many hosts show a model only that, so the text is in it. */
  structured?: boolean;
  /** Directory of the calls, absolute on the executor's host. Default: the executor's. */
  cwd?: string;
  /** Version that is told to clients. */
  version?: string;
  /** Attaches what is attached on first use; called when a client lists the tools, which waits for it for 3 s. */
  attach?: () => Promise<unknown>;
  clock?: Clock;
}
