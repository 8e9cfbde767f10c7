import type { Clock } from "@codex/clock";
import type { PermissionVerdict } from "@codex/hooks";
import { cutToBytes } from "@codex/telemetry";
import { evictOldest, messageOf } from "@codex/values";
import type { Answerer, ApprovalResult } from "../approvals/approval-result.js";
import type { ApprovalRequest, Approver, DetailedAnswer, Grant } from "../approvals/approver.js";
import type { ApproverPanel } from "../approvals/approver-panel.js";
import { OrchestratorError } from "../errors.js";
import { MAX_VIA_BYTES } from "../limits.js";
import type { Question } from "./decision.js";

/** Who is asked, and for whom. */
export interface AskOptions {
  /** Withdraws the request. */
  readonly signal: AbortSignal;
  /** The client of the call: a decision for the session is remembered for this client only. */
  readonly client: string | undefined;
  /** A decision that was made before. */
  readonly grant: Grant | undefined;
  /** Without one only those of the panel are asked. */
  readonly approver: Approver | undefined;
  readonly askHooks?: AskHooks | undefined;
}

/** Asks hooks before anybody else. Never rejects. */
export type AskHooks = (request: ApprovalRequest, signal: AbortSignal) => Promise<PermissionVerdict>;

export interface ApprovalsOptions {
  clock: Clock;
  /** Time limit for a decision, milliseconds; 0: none. */
  timeoutMs: number;
  /** Approvers in addition to that of a call. */
  panel?: Pick<ApproverPanel, "join">;
  /** Maximum number of remembered decisions; the oldest is forgotten. */
  limit: number;
}

/** Requests approvals and remembers those given for the session. Without an approver every request is denied. */
export class Approvals {
  readonly #options: ApprovalsOptions;
  readonly #accepted = new Set<string>();

  constructor(options: ApprovalsOptions) {
    this.#options = options;
  }

  /** Uses a remembered decision, else asks the hooks, and then uses the grant, or asks the approver. Never rejects. */
  async decide(
    question: Question,
    { signal, client, grant, approver: configured, askHooks }: AskOptions,
  ): Promise<ApprovalResult> {
    const { request, digest } = question;
    if (this.remembers(question, client)) return { kind: "approved", by: "session" };
    const verdict = await askHooks?.(request, signal);
    if (signal.aborted && verdict !== undefined) return { kind: "interrupted" };
    if (verdict?.kind === "deny") return { kind: "denied", by: "hook", reason: verdict.reason };
    // Nobody knew of the denial when it was granted.
    if (grant !== undefined && request.afterDenial === null) {
      return grant.digest === digest ? this.#accept(question, client, toAnswer(grant)) : { kind: "changed" };
    }
    if (verdict?.kind === "allow") return { kind: "approved", by: "hook" };
    const { panel } = this.#options;
    const approver = panel === undefined ? configured : panel.join(configured);
    if (approver === undefined)
      return { kind: "denied", by: "nobody", reason: "it needs approval, and there is no approver" };
    if (signal.aborted) return { kind: "interrupted" };
    const answer = await this.#ask(approver, request, signal);
    return "kind" in answer ? answer : this.#accept(question, client, answer);
  }

  /** Whether it was accepted for the session before. */
  remembers({ keys }: Question, client: string | undefined): boolean {
    return keys.length > 0 && keys.every((key) => this.#accepted.has(ownKey(client, key)));
  }

  #accept(
    { request, keys }: Question,
    client: string | undefined,
    { decision, rule, by, via }: Answer,
  ): ApprovalResult {
    const available = request.availableDecisions;
    if (!available.some((one) => one === decision)) {
      return {
        kind: "denied",
        by: "failure",
        reason: `the decision \`${decision}\` is not one of ${available.join(", ")}`,
      };
    }
    if (decision === "accept_for_session") for (const key of keys) this.#remember(ownKey(client, key));
    const answered = via === undefined ? { by } : { by, via };
    if (decision === "cancel") return { kind: "cancelled", ...answered };
    if (decision === "decline") return { kind: "denied", ...answered, reason: `the ${by} declined it` };
    if (decision === "accept_and_save" && request.cause.kind === "host") {
      return { kind: "approved", ...answered, savesHost: true };
    }
    const saved = decision === "accept_and_save" ? (rule ?? request.proposedAmendment) : null;
    return saved === null ? { kind: "approved", ...answered } : { kind: "approved", ...answered, rule: saved };
  }

  /** The decision, or why there is none. */
  async #ask(approver: Approver, request: ApprovalRequest, signal: AbortSignal): Promise<Answer | ApprovalResult> {
    const { clock, timeoutMs } = this.#options;
    const given = new AbortController();
    let stopClock = () => {};
    let stopListening = () => {};
    const expired = new Promise<ApprovalResult>((resolve) => {
      const onAbort = () => resolve({ kind: "interrupted" });
      signal.addEventListener("abort", onAbort, { once: true });
      stopListening = () => signal.removeEventListener("abort", onAbort);
      const denied: ApprovalResult = {
        kind: "denied",
        by: "timeout",
        reason: `there was no decision within ${timeoutMs} ms`,
      };
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
    evictOldest(this.#accepted, this.#options.limit);
  }
}

const ownKey = (client: string | undefined, key: string): string => JSON.stringify([client, key]);

/** The unchecked answer of an approver. */
interface Answer {
  decision: string;
  rule: readonly string[] | undefined;
  by: Answerer;
  via: string | undefined;
}

const toAnswer = ({ decision, rule, by, via }: DetailedAnswer): Answer => ({
  decision: String(decision),
  rule,
  by: by === "client" || by === "model" ? by : "user",
  via: via === undefined ? undefined : cutToBytes(String(via), MAX_VIA_BYTES),
});

/** A failure of the approver is not a decision. */
async function requestDecision(
  approver: Approver,
  request: ApprovalRequest,
  signal: AbortSignal,
): Promise<Answer | ApprovalResult> {
  try {
    const answer = await approver.requestApproval(request, { signal });
    if (typeof answer === "object" && answer !== null) return toAnswer(answer);
    return { decision: String(answer), rule: undefined, by: "user", via: undefined };
  } catch (error) {
    if (error instanceof OrchestratorError && error.code === "no_approver") {
      return { kind: "denied", by: "nobody", reason: `it needs approval, and ${error.message}` };
    }
    return {
      kind: "denied",
      by: "failure",
      reason: `it needs approval, and requesting it failed: ${messageOf(error)}`,
    };
  }
}
