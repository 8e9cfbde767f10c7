import { createHash } from "node:crypto";
import type { ExecCommandRequest } from "@codex/executor-protocol";
import { renderBoundRequest } from "@codex/permissions";

/** Binds each approval to the request for which it was first used; it is refused for any other, as long as the connection lives. */
export class ApprovalLedger {
  readonly #limit: number;
  readonly #digests = new Map<string, string>();

  /** @param limit maximum number of approvals; further ones are refused, since forgetting one would let it be used again */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Binds the approval of a request. Returns why it must not be used, if so. */
  bind(request: ExecCommandRequest): string | undefined {
    const { approvalId } = request;
    if (approvalId === undefined) return undefined;
    const digest = digestOf(renderBoundRequest(request));
    const key = digestOf(approvalId);
    const known = this.#digests.get(key);
    if (known !== undefined) return known === digest ? undefined : "its approval was given for another request";
    if (this.#digests.size >= this.#limit) {
      return `this connection has used ${this.#digests.size} approvals (limit ${this.#limit} approvals); a new connection may use more`;
    }
    this.#digests.set(key, digest);
    return undefined;
  }
}

const digestOf = (text: string): string => createHash("sha256").update(text).digest("base64");
