import { isDeepStrictEqual } from "node:util";
import type { ExecutorConnection } from "@codex/executor-client";
import type { BoundRequest } from "@codex/permissions";
import { digestRequest } from "../approvals/binding.js";
import { type Granted, refuseCommand } from "../permit/permit.js";
import type { ResolvedExec } from "../resolve/exec-command.js";
import type { RefusedCall } from "../result.js";

/** What is sent is what was approved, at the host it was resolved for, or nothing. Undefined: nothing has changed. */
export function findChange(
  executor: ExecutorConnection,
  resolved: ResolvedExec,
  approval: Granted["approval"],
  sent: BoundRequest,
): RefusedCall | undefined {
  if (approval !== undefined && digestRequest(executor.name, sent) !== approval.digest) {
    return refuseCommand(
      "changed",
      "its directory, environment or sandbox changed while it was decided about",
      resolved,
    );
  }
  if (isDeepStrictEqual(executor.host, resolved.host)) return undefined;
  return refuseCommand("changed", "its executor was reached again, and its host is not what it was", resolved);
}
