import type { ExecCommandRequest } from "@codex/executor-protocol";
import type { Config } from "../config.js";

/**
 * The environment of a command. An executor that introduced itself gets the policy and applies it to its own
 * environment; one that knows only the base messages needs it complete.
 */
export function resolveEnvironment(
  initialized: boolean,
  config: Config,
): Pick<ExecCommandRequest, "env" | "envPolicy"> {
  if (initialized) return { env: { ...config.forcedEnv }, envPolicy: config.envPolicy };
  return { env: { ...config.baseEnv, ...config.envPolicy.set, ...config.forcedEnv } };
}
