import { createHash } from "node:crypto";
import type { ExecCommandRequest } from "@codex/executor-protocol";

/** What an approval is for: a request as it goes on the wire, without what changes nothing about what it does. */
export type BoundRequest = Omit<
  ExecCommandRequest,
  | "execApprovalRequirement"
  | "yieldTimeMs"
  | "maxOutputTokens"
  | "idempotencyKey"
  | "approvalId"
  | "justification"
  | "additionalPermissionsPreapproved"
>;

/** Of everything that decides what is run, where, and what holds it. Equal requests have equal digests. */
export function digestRequest(environment: string, request: BoundRequest): string {
  const { command, cwd, env, envPolicy, sandbox, tty, size, stdin, timeoutMs } = request;
  const { sandboxPermissions, additionalPermissions } = request;
  const bound = { environment, command, cwd, env, envPolicy, sandbox: sandbox ?? null, tty, size, stdin, timeoutMs };
  const text = JSON.stringify({ ...bound, sandboxPermissions, additionalPermissions }, sortKeys);
  return createHash("sha256").update(text).digest("hex");
}

function sortKeys(_key: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** A copy that nobody can change: not whoever is shown it, and not whoever made it. */
export function copyFrozen<T>(value: T): T {
  return freeze(structuredClone(value));
}

function freeze<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  for (const member of Object.values(value)) freeze(member);
  return Object.freeze(value);
}
