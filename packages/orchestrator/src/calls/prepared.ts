import type { Open } from "../decide/decision.js";
import type { Rejected } from "../resolve/resolved.js";
import type { Selected } from "../resolve/select-executor.js";
import { type RefusalCode, type RefusedCall, refuse, type ToolCallResult } from "../result.js";
import type { CallContext } from "./call-context.js";
import type { CallToolOptions } from "./call-options.js";

/** A call that was resolved and decided about; nothing was sent. */
export type Prepared =
  /** It may be sent. */
  | { kind: "ready"; run: () => Promise<ToolCallResult> }
  /** It was only judged. */
  | Open
  /** It is not sent. */
  | { kind: "result"; result: ToolCallResult };

/** Resolves the call of a tool according to its contract, and decides about it. */
export type PrepareCall = (
  selected: Selected,
  args: Record<string, unknown>,
  options: CallToolOptions,
  context: CallContext,
) => Promise<Prepared>;

/** It is not sent. */
export const stopped = (result: ToolCallResult): Prepared => ({ kind: "result", result });

/** The result of a call whose arguments are wrong. */
export function invalid(toolName: string, { field, problem }: Rejected): RefusedCall {
  const reason = field === "" ? problem : `field \`${field}\`: ${problem}`;
  const text = `Invalid arguments for \`${toolName}\`: ${reason}. Nothing was run.`;
  const code: RefusalCode = "invalid_arguments";
  return refuse("error", text, { code, ...(field === "" ? {} : { field }), reason });
}
