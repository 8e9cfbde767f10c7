import { isDeepStrictEqual } from "node:util";
import type { ExecutorConnection } from "@codex/executor-client";
import type { BoundRequest } from "@codex/permissions";
import { digestRequest } from "../approvals/binding.js";
import { type Granted, refuseCommand } from "../permit/permit.js";
import type { ResolvedExec } from "../resolve/exec-command.js";
import type { RefusedCall } from "../result.js";

/** Refuses a call that differs from what was approved, or would run on another host; undefined if nothing has changed. */
export function findChange(
  executor: ExecutorConnection,
  resolved: ResolvedExec,
  approval: Granted["approval"],
  sent: BoundRequest,
): RefusedCall | undefined {
  if (approval !== undefined && digestRequest(executor.name, sent) !== approval.digest) {
    return refuseCommand(
      "changed",
      "its directory, environment or sandbox changed after approval was requested",
      resolved,
    );
  }
  if (isDeepStrictEqual(executor.host, resolved.host)) return undefined;
  return refuseCommand("changed", "its executor was reconnected, and is on another host", resolved);
}
