import type { ProcessOutcome } from "@codex/executor-protocol";
import type { Catalog } from "../catalog/catalog.js";
import { withoutUrlSecrets } from "../text.js";
import type { Session } from "./sessions.js";

/** What is known of a session now, without asking its executor. */
export interface SessionDescription {
  environment: string;
  /** `lost` while its host cannot be reached; undefined if it has ended and it is not known how. */
  outcome: ProcessOutcome | undefined;
}

/** Describes a session; the reason of a lost one names its environment. */
export function describeSession(session: Session, catalog: Catalog): SessionDescription {
  const { owner, state, lastSeq } = session;
  const environment = owner.name;
  const lost = (reason: string): SessionDescription => {
    const text = `environment \`${environment}\` cannot be reached: ${withoutUrlSecrets(reason)}`;
    return { environment, outcome: { kind: "lost", reason: text, lastSeq } };
  };
  if (state.kind === "ended") return { environment, outcome: state.outcome };
  if (state.kind === "lost") return lost(state.reason);
  const executor = catalog.all.find((one) => one.owner === owner);
  const outage = executor === undefined ? { reason: "it was detached" } : catalog.findOutage(executor);
  return outage === undefined ? { environment, outcome: { kind: "running" } } : lost(outage.reason);
}
