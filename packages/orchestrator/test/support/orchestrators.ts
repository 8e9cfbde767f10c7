import type { Channel } from "@codex/channel";
import { FakeClock } from "@codex/clock/testing";
import type { Orchestrator, OrchestratorDefaults, ProtocolProblem } from "@codex/orchestrator";
import { createTestOrchestrator, type TestOrchestratorOptions } from "@codex/orchestrator/testing";
import type { ApprovalPolicy, PolicyOptions } from "@codex/policy";
import { closeAfterTest } from "./executors.js";

export interface Stage {
  orchestrator: Orchestrator;
  clock: FakeClock;
  problems: ProtocolProblem[];
}

/** A bare approval policy stands for one without a sandbox. */
export interface StageOptions extends Partial<Omit<TestOrchestratorOptions, "policy">> {
  policy?: PolicyOptions | ApprovalPolicy;
}

/**
 * An orchestrator that lets everything run, on a clock that stands still, closed after the test. Where the policy names
 * no sandbox there is none: scripted executors cannot make any.
 */
export function stage({ policy = "on-request", ...options }: StageOptions = {}): Stage {
  const clock = new FakeClock();
  const problems: ProtocolProblem[] = [];
  let id = 0;
  const orchestrator = createTestOrchestrator({
    policy: withoutSandbox(policy),
    clock,
    newId: () => `id${++id}`,
    onProblem: (problem) => problems.push(problem),
    ...options,
  });
  closeAfterTest(() => orchestrator.close());
  return { orchestrator, clock, problems };
}

function withoutSandbox(policy: PolicyOptions | ApprovalPolicy): PolicyOptions {
  const options = typeof policy === "object" && "approvalPolicy" in policy ? policy : { approvalPolicy: policy };
  return { sandbox: "danger-full-access", ...options };
}

/** The same with one executor attached. */
export async function attached(channel: Channel, options: StageOptions = {}): Promise<Stage> {
  const made = stage(options);
  await made.orchestrator.attach({ name: "main", channel, shutdownOnClose: false });
  return made;
}

export const withDefaults = (defaults: OrchestratorDefaults): StageOptions => ({ defaults });
