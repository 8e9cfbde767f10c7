import type { SandboxProfile } from "./profile.js";
import { isUnlimited } from "./profile.js";

/** The environment of a sandboxed command: without a network it has the variable that Codex sets. */
export const getEnvironment = (
  env: Readonly<Record<string, string>>,
  profile: SandboxProfile,
): Readonly<Record<string, string>> =>
  isUnlimited(profile) || profile.network === "enabled" ? env : { ...env, CODEX_SANDBOX_NETWORK_DISABLED: "1" };
