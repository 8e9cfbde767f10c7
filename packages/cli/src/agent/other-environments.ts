import type { Orchestrator } from "@codex/orchestrator";
import type { PolicyOptions } from "@codex/policy";
import { defined } from "@codex/values";
import { areEnvironmentsConfigured, type ConnectOptions } from "../connect.js";
import { createOwnEnvironment } from "../own-environment.js";
import type { OwnExecutorOptions } from "../own-executor.js";

/**
 * Adds the other configured environments to an orchestrator, unless one was named for the run. Each is connected on first use.
 * The caller closes them.
 */
export async function addOtherEnvironments(
  orchestrator: Pick<Orchestrator, "addEnvironment">,
  primary: string,
  { executor, environment }: ConnectOptions,
  policyOf: (id: string) => Promise<PolicyOptions>,
  own: OwnExecutorOptions,
) {
  if (executor !== undefined || environment !== undefined || !areEnvironmentsConfigured()) return undefined;
  const { loadConfigured } = await import("../configured-environments.js");
  const { openEnvironments } = await import("../environments.js");
  const config = await loadConfigured();
  const environments = openEnvironments(config, () => createOwnEnvironment(own));
  const list = environments.list().filter(({ id }) => id !== primary);
  for (const other of list) {
    const fallback = config.environments.find(({ id }) => id === other.id)?.fallback;
    orchestrator.addEnvironment(other, { policy: await policyOf(other.id), ...defined({ fallback }) });
  }
  return { list, close: () => environments.close() };
}
