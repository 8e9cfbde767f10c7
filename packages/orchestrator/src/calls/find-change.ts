import { isDeepStrictEqual } from "node:util";
import type { ExecutorConnection } from "@codex/executor-client";
import type { BoundRequest } from "@codex/permissions";
import { digestRequest } from "../approvals/binding.js";
import type { Allowed } from "../decide/decision.js";
import type { ResolvedExec } from "../resolve/exec-command.js";
import type { RefusedCall } from "../result.js";
import { refuseCommand } from "./refusal.js";

/** Refuses a call that differs from what was approved, or would run on another host; undefined if nothing has changed. */
export function findChange(
  executor: ExecutorConnection,
  { request, host }: Pick<ResolvedExec, "request" | "host">,
  approval: Allowed<unknown>["approval"],
  sent: BoundRequest,
): RefusedCall | undefined {
  const refuse = (reason: string) => refuseCommand({ kind: "refused", code: "changed", reason }, request);
  if (approval !== undefined && digestRequest(executor.name, sent) !== approval.digest) {
    return refuse("its directory, environment or sandbox changed after approval was requested");
  }
  if (isDeepStrictEqual(executor.host, host)) return undefined;
  return refuse("its executor was reconnected, and is on another host");
}
