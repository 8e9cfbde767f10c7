import type { Clock } from "@codex/clock";
import { MAX_HOLD_MS, MIN_HOLD_MS } from "./limits.js";

/** What to do with a program whose call the client has cancelled or abandoned. */
export type OnCancel = "keep" | "interrupt" | "kill";

/** How the tools of an orchestrator are offered to MCP clients. */
export interface McpServerOptions {
  /** Time limit of a call, milliseconds from 250 to 300,000; then its program continues as a session. Default 50,000. */
  maxHoldMs?: number;
  /** `keep` (default): the session continues, and the next result begins with a note that names it. */
  onCancel?: OnCancel;
  /** Results have `structuredContent` in addition to the text. Many hosts show a model only the former, so it includes the text. */
  structured?: boolean;
  /** Absolute working directory of calls, on the executor's host. Default: the executor's. */
  cwd?: string;
  /** Server version reported to clients. */
  version?: string;
  /** Attaches executors on first use; called when a client lists the tools, which waits up to 3 s for it. */
  attach?: () => Promise<unknown>;
  clock?: Clock;
}

/** Whether this can be `maxHoldMs`. */
export const isHoldTime = (ms: number): boolean => Number.isInteger(ms) && ms >= MIN_HOLD_MS && ms <= MAX_HOLD_MS;
