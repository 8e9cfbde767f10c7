import type { ExecCommandRequest } from "@codex/executor-protocol";
import type { Config } from "../config.js";

/** Set on top of everything, so that output is plain text in one language and nothing waits in a pager. */
export const FORCED_ENVIRONMENT: Readonly<Record<string, string>> = {
  NO_COLOR: "1",
  TERM: "dumb",
  LANG: "C.UTF-8",
  LC_CTYPE: "C.UTF-8",
  LC_ALL: "C.UTF-8",
  COLORTERM: "",
  PAGER: "cat",
  GIT_PAGER: "cat",
  GH_PAGER: "cat",
  CODEX_CI: "1",
};

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
