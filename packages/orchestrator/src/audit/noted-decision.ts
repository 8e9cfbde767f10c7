import type { DecidedBy } from "@codex/audit";
import { decidedBy, type Trail } from "./audit-trail.js";

/** Why a call was allowed or refused. */
export interface CallDecision {
  /** The policy itself, a rule, or the result of asking for approval. */
  readonly by: DecidedBy;
  /** The rules that match, each as its pattern and file; at most `MAX_AUDIT_LIST`. */
  readonly rules: readonly string[];
}

/** A trail that also reports each decision: first that of the policy, then that of an approval. */
export function noteDecisions(trail: Trail, maxRules: number, onDecision: (decision: CallDecision) => void): Trail {
  let rules: readonly string[] = [];
  return {
    command: (environment, command) => trail.command(environment, command),
    tool: (environment, args, session) => trail.tool(environment, args, session),
    judged(requirement, matches) {
      const found = matches();
      trail.judged(requirement, () => found);
      rules = found.slice(0, maxRules).map(({ rule }) => rule);
      onDecision({ by: rules.length > 0 ? "rule" : "policy", rules });
    },
    decided(approvalId, answer) {
      trail.decided(approvalId, answer);
      onDecision({ by: decidedBy(answer), rules });
    },
    blocked() {
      trail.blocked();
      onDecision({ by: "hook", rules: [] });
    },
    sending: (sandbox) => trail.sending(sandbox),
    hosts: (hosts, omitted) => trail.hosts(hosts, omitted),
    answered: (result) => trail.answered(result),
    ended: (result) => trail.ended(result),
  };
}
