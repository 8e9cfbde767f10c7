import { type ResourceLimits, strictest } from "@codex/executor-protocol";
import type { Config } from "../config.js";

/** The configuration for commands of an executor, whose limits hold as well. */
export const limited = (config: Config, executor: { readonly resourceLimits: ResourceLimits }): Config => ({
  ...config,
  resourceLimits: strictest(config.resourceLimits, executor.resourceLimits),
});
