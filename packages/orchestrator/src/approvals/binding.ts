import { createHash } from "node:crypto";
import { type BoundRequest, renderBoundRequest } from "@codex/permissions";

/** Of what an approval is for, and of where it runs. */
export const digestRequest = (environment: string, request: BoundRequest): string =>
  createHash("sha256")
    .update(JSON.stringify([environment, renderBoundRequest(request)]))
    .digest("hex");

/** A copy that nobody can change: not whoever is shown it, and not whoever made it. */
export function copyFrozen<T>(value: T): T {
  return freeze(structuredClone(value));
}

function freeze<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  for (const member of Object.values(value)) freeze(member);
  return Object.freeze(value);
}
