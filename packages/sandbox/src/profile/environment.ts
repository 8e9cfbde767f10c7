import type { SandboxProfile } from "./profile.js";
import { isUnlimited } from "./profile.js";

/** What Codex tells programs that have no network. */
export const getEnvironment = (
  env: Readonly<Record<string, string>>,
  profile: SandboxProfile,
): Readonly<Record<string, string>> =>
  isUnlimited(profile) || profile.network === "enabled" ? env : { ...env, CODEX_SANDBOX_NETWORK_DISABLED: "1" };
