import type { Clock } from "../clock.js";
import { messageOf } from "../errors.js";
import { type ApprovalRequest, type Approver, AVAILABLE_DECISIONS } from "./approver.js";
import { sessionKey } from "./session-key.js";

export type ApprovalResult =
  | { kind: "approved" }
  /** The model is told why. */
  | { kind: "denied"; reason: string }
  /** The turn ends. */
  | { kind: "cancelled" }
  /** The call was aborted while the question was open. */
  | { kind: "interrupted" };

export interface ApprovalsOptions {
  approver: Approver | undefined;
  clock: Clock;
  /** Milliseconds for a decision; 0 waits without end. */
  timeoutMs: number;
  /** Decisions remembered; the oldest is forgotten. */
  limit: number;
}

/** Asks for approvals and remembers those given for the session. Without an approver everything is denied. */
export class Approvals {
  readonly #options: ApprovalsOptions;
  readonly #accepted = new Set<string>();

  constructor(options: ApprovalsOptions) {
    this.#options = options;
  }

  /** Never rejects. `canonical` is the command by which a decision is remembered. */
  async decide(request: ApprovalRequest, canonical: readonly string[], signal?: AbortSignal): Promise<ApprovalResult> {
    const key = sessionKey(request, canonical);
    if (this.#accepted.has(key)) return { kind: "approved" };
    const { approver } = this.#options;
    if (approver === undefined) return { kind: "denied", reason: "it needs approval, and nobody is there to give it" };
    if (signal?.aborted) return { kind: "interrupted" };
    const decision = await this.#ask(approver, request, signal);
    if (typeof decision !== "string") return decision;
    if (!AVAILABLE_DECISIONS.some((available) => available === decision)) {
      return { kind: "denied", reason: `the decision \`${decision}\` is not one of ${AVAILABLE_DECISIONS.join(", ")}` };
    }
    if (decision === "accept_for_session") this.#remember(key);
    if (decision === "cancel") return { kind: "cancelled" };
    return decision === "decline" ? { kind: "denied", reason: "the user declined it" } : { kind: "approved" };
  }

  /** The decision, or what came in its place. */
  async #ask(approver: Approver, request: ApprovalRequest, signal?: AbortSignal): Promise<string | ApprovalResult> {
    const { clock, timeoutMs } = this.#options;
    const given = new AbortController();
    let stopClock = () => {};
    let stopListening = () => {};
    const expired = new Promise<ApprovalResult>((resolve) => {
      const onAbort = () => resolve({ kind: "interrupted" });
      signal?.addEventListener("abort", onAbort, { once: true });
      stopListening = () => signal?.removeEventListener("abort", onAbort);
      const denied: ApprovalResult = { kind: "denied", reason: `nobody decided within ${timeoutMs} ms` };
      if (timeoutMs > 0) stopClock = clock.after(timeoutMs, () => resolve(denied));
    });
    try {
      return await Promise.race([requestDecision(approver, request, given.signal), expired]);
    } finally {
      stopClock();
      stopListening();
      given.abort();
    }
  }

  #remember(key: string): void {
    this.#accepted.add(key);
    if (this.#accepted.size <= this.#options.limit) return;
    const [oldest] = this.#accepted;
    if (oldest !== undefined) this.#accepted.delete(oldest);
  }
}

/** An approver that fails has decided nothing. */
async function requestDecision(
  approver: Approver,
  request: ApprovalRequest,
  signal: AbortSignal,
): Promise<string | ApprovalResult> {
  try {
    return String(await approver.requestApproval(request, { signal }));
  } catch (error) {
    return { kind: "denied", reason: `it needs approval, and asking for it failed: ${messageOf(error)}` };
  }
}
