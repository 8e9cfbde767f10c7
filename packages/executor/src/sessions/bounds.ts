import { BYTES_PER_TOKEN } from "@codex/executor-protocol";
import type { ExecutorLimits } from "../limits.js";

export interface Bounds {
  /** Milliseconds. */
  windowMs: number;
  budgetBytes: number;
  /** One sentence for each bound that changed the request. */
  notices: string[];
}

/** Window and budget of a request, within the bounds of this executor. */
export function applyBounds(
  request: { yieldTimeMs: number; maxOutputTokens: number },
  limits: Pick<ExecutorLimits, "windowMs" | "budgetBytes">,
): Bounds {
  const notices: string[] = [];
  if (request.yieldTimeMs > limits.windowMs) {
    notices.push(
      `the window of ${request.yieldTimeMs} ms was cut to ${limits.windowMs} ms, the limit of this executor`,
    );
  }
  const mostTokens = Math.floor(limits.budgetBytes / BYTES_PER_TOKEN);
  if (request.maxOutputTokens > mostTokens) {
    notices.push(
      `the budget of ${request.maxOutputTokens} tokens was cut to ${mostTokens} tokens, the limit of this executor`,
    );
  }
  return {
    windowMs: Math.min(request.yieldTimeMs, limits.windowMs),
    budgetBytes: Math.min(request.maxOutputTokens, mostTokens) * BYTES_PER_TOKEN,
    notices,
  };
}
