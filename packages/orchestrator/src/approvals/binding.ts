import { createHash } from "node:crypto";
import { type BoundRequest, renderBoundRequest } from "@codex/permissions";
import type { ApprovalRequest } from "./approver.js";

/** SHA-256 of what an approval covers, and of where it runs. */
export const digestRequest = (environment: string, request: BoundRequest): string =>
  createHash("sha256")
    .update(JSON.stringify([environment, renderBoundRequest(request)]))
    .digest("hex");

/** The same for a call that is not a command: the request, and what else the decision depends on. */
export function digestQuestion(request: ApprovalRequest, more: unknown = null): string {
  const { id: _id, ...shown } = request;
  return createHash("sha256")
    .update(JSON.stringify([shown, more]))
    .digest("hex");
}

/** A deeply frozen copy: neither the approver nor the caller can change it. */
export function copyFrozen<T>(value: T): T {
  return freeze(structuredClone(value));
}

function freeze<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  for (const member of Object.values(value)) freeze(member);
  return Object.freeze(value);
}
