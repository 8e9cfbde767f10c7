import type { ExecCommandRequest } from "@codex/executor-protocol";
import type { Config } from "../config.js";

/**
 * The environment of a command. An executor that answered `initialize` gets the policy and applies it to its own
 * environment; one that supports only the base messages gets the complete environment.
 */
export function resolveEnvironment(
  initialized: boolean,
  config: Config,
  variables: Readonly<Record<string, string>> = {},
): Pick<ExecCommandRequest, "env" | "envPolicy"> {
  if (initialized) return { env: { ...config.forcedEnv, ...variables }, envPolicy: config.envPolicy };
  return { env: { ...config.baseEnv, ...config.envPolicy.set, ...config.forcedEnv, ...variables } };
}
