import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type AgentEvent, type AgentOptions, createAgent, createResponsesModel, type ThreadEntry } from "@codex/agent";
import { type Script, startScriptedEndpoint } from "@codex/agent/testing";
import { createLocalOrchestrator, type LocalOrchestratorOptions } from "@codex/local";
import { onTestFinished } from "vitest";
import { createFastClock, providerAt } from "../../../model/test/support.js";

export interface Setting {
  readonly orchestrator?: LocalOrchestratorOptions;
  readonly agent?: Partial<AgentOptions>;
  readonly table?: object;
}

/** An agent on a scripted model, with commands on this host in a fresh directory. */
export async function startAgent(script: Script, { orchestrator: local, agent: options, table = {} }: Setting = {}) {
  const endpoint = await startScriptedEndpoint(script);
  const cwd = mkdtempSync(join(realpathSync(tmpdir()), "agent-"));
  const policy = { approvalPolicy: "never", sandbox: "danger-full-access" } as const;
  const orchestrator = await createLocalOrchestrator({ policy, defaults: { login: false }, ...local });
  onTestFinished(async () => {
    await orchestrator.close();
    await endpoint.close();
    rmSync(cwd, { recursive: true, force: true });
  });
  const { clock } = createFastClock();
  const entries: ThreadEntry[] = [];
  const provider = providerAt(endpoint.url, table);
  const agent = createAgent({
    orchestrator,
    model: createResponsesModel({ provider, clock }),
    modelName: "test-model",
    retry: provider.retry,
    cwd,
    login: false,
    clock,
    ...options,
  });
  const recorder = { append: async (entry: ThreadEntry) => void entries.push(entry) };
  const thread = agent.startThread({ recorder });
  return { agent, thread, endpoint, cwd, orchestrator, entries, recorder };
}

/** All events of a turn, checked for what holds of every turn. */
export async function readAll(events: AsyncIterable<AgentEvent>): Promise<AgentEvent[]> {
  const seen: AgentEvent[] = [];
  for await (const event of events) seen.push(event);
  const ends = seen.filter(({ type }) => type === "turn_completed" || type === "turn_failed");
  if (ends.length !== 1 || ends[0] !== seen.at(-1)) throw new Error(`${ends.length} ends: ${JSON.stringify(seen)}`);
  const started = idsOf(seen, "item_started");
  const completed = idsOf(seen, "item_completed");
  const open = started.filter((id) => !completed.includes(id));
  const twice = completed.filter((id, index) => completed.indexOf(id) !== index);
  if (open.length + twice.length > 0) throw new Error(`open: ${open.join()}; twice: ${twice.join()}`);
  return seen;
}

const idsOf = (events: readonly AgentEvent[], type: string): string[] =>
  events.flatMap((event) => ("item" in event && event.type === type ? [event.item.id] : []));

/** What was completed. */
export const completedItems = (events: readonly AgentEvent[]) =>
  events.flatMap((event) => (event.type === "item_completed" ? [event.item] : []));
