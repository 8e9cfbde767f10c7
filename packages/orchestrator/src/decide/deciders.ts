import type { Approver, Grant } from "../approvals/approver.js";
import type { Trail } from "../audit/audit-trail.js";
import type { HookCaller, OrchestratorHooks } from "../hooks/hook-caller.js";
import { describeRequest } from "../hooks/request-use.js";
import type { Approvals, AskHooks } from "./approvals.js";
import { Decider } from "./decider.js";
import type { DecidePorts, Ruling } from "./ports.js";

/** Who decides about the calls in each environment. */
export interface Deciders {
  /** Asks where the policy requires it, remembers and records. */
  asking(environment: string, party: AskingParty): Decider;
  /** Asks nobody; nothing is remembered or recorded. */
  judging(environment: string, client: string | undefined): Decider;
}

/** Of a call. */
interface AskingParty {
  readonly client: string | undefined;
  /** Instead of that of the environment. */
  readonly approver: Approver | undefined;
  /** A decision that was made before the call. */
  readonly grant?: Grant | undefined;
  readonly trail: Trail;
  /** For hooks. */
  readonly caller?: HookCaller | undefined;
}

/** @param rulingOf policy and approver of an environment */
export const createDeciders = (
  ports: DecidePorts,
  approvals: Approvals,
  rulingOf: (environment: string) => Ruling,
  hooks: OrchestratorHooks | undefined,
): Deciders => ({
  asking(environment, { approver, caller, ...party }) {
    const ruling = rulingOf(environment);
    const own = { ...ruling, approver: approver ?? ruling.approver };
    const askHooks: AskHooks | undefined =
      hooks &&
      ((request, signal) => {
        const subject = hooks.describe({ environment, caller, cwd: request.cwd });
        return hooks.tools.permissionRequest({ ...subject, ...describeRequest(request) }, signal);
      });
    return Decider.asking(ports, approvals, { ...party, ruling: own, askHooks });
  },
  judging: (environment, client) => Decider.judging(ports, approvals, { ruling: rulingOf(environment), client }),
});
