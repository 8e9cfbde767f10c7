import type { Channel } from "@codex/channel";
import {
  createOrchestrator,
  type Orchestrator,
  type OrchestratorDefaults,
  type OrchestratorOptions,
  type ProtocolProblem,
} from "@codex/orchestrator";
import type { PolicyOptions } from "@codex/policy";
import { closeAfterTest } from "./executors.js";
import { FakeClock } from "./fake-clock.js";

export interface Stage {
  orchestrator: Orchestrator;
  clock: FakeClock;
  problems: ProtocolProblem[];
}

/**
 * An orchestrator that lets everything run, on a clock that stands still, closed after the test. Where the policy names
 * no sandbox there is none: scripted executors cannot make any.
 */
export function stage({ policy = "on-request", ...options }: Partial<OrchestratorOptions> = {}): Stage {
  const clock = new FakeClock();
  const problems: ProtocolProblem[] = [];
  let id = 0;
  const orchestrator = createOrchestrator({
    policy: withoutSandbox(policy),
    clock,
    random: () => `id${++id}`,
    onProblem: (problem) => problems.push(problem),
    ...options,
  });
  closeAfterTest(() => orchestrator.close());
  return { orchestrator, clock, problems };
}

function withoutSandbox(policy: OrchestratorOptions["policy"]): PolicyOptions {
  const options = typeof policy === "object" && "approvalPolicy" in policy ? policy : { approvalPolicy: policy };
  return { sandbox: "danger-full-access", ...options };
}

/** The same with one executor attached. */
export async function attached(channel: Channel, options: Partial<OrchestratorOptions> = {}): Promise<Stage> {
  const made = stage(options);
  await made.orchestrator.attach({ name: "main", channel, shutdownOnClose: false });
  return made;
}

export const withDefaults = (defaults: OrchestratorDefaults): Partial<OrchestratorOptions> => ({ defaults });
