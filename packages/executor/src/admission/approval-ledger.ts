import { createHash } from "node:crypto";
import type { ExecCommandRequest } from "@codex/executor-protocol";
import { renderBoundRequest } from "@codex/permissions";
import { deleteOldest } from "../delete-oldest.js";

/** Binds each approval to the request for which it was first used; it is refused for any other. */
export class ApprovalLedger {
  readonly #limit: number;
  readonly #digests = new Map<string, string>();

  /** @param limit maximum number of approvals; the oldest is forgotten */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Binds the approval of a request. False if it was used for another request before. */
  bind(request: ExecCommandRequest): boolean {
    const { approvalId } = request;
    if (approvalId === undefined) return true;
    const digest = createHash("sha256").update(renderBoundRequest(request)).digest("hex");
    const key = createHash("sha256").update(approvalId).digest("hex");
    const known = this.#digests.get(key);
    if (known !== undefined) return known === digest;
    this.#digests.set(key, digest);
    deleteOldest(this.#digests, this.#limit);
    return true;
  }
}
