import type { ConfiguredHook, LoadedConfig } from "@codex/config";
import type { Hooks } from "@codex/hooks";
import { say } from "./notice.js";

/**
 * The hooks of a configuration, or undefined where none may run. Tells which nobody has trusted.
 * @param directory that they run in
 */
export async function openHooks({ hooks, sources }: LoadedConfig, directory: string): Promise<Hooks | undefined> {
  const active = hooks.filter(({ isActive }) => isActive).map(({ hook }) => hook);
  const inactive = hooks.filter(({ isActive, isEnabled }) => isEnabled && !isActive);
  if (inactive.length > 0)
    say(`${describeInactive(inactive)}; \`codex hooks\` lists them, \`codex hooks trust\` trusts them`);
  if (active.length === 0) return undefined;
  if (sources.bypassHookTrust === true) say("--dangerously-bypass-hook-trust: hooks run that nobody has trusted");
  const { createHooks } = await import("@codex/hooks/node");
  return createHooks({
    hooks: active,
    directory,
    onReport: ({ hook, kind, text }) => say(`hook ${hook.key}${kind === "failed" ? " failed" : ""}: ${text}`),
  });
}

/** Where hooks of a configuration run: in the project, once that is trusted. */
export const hooksDirectory = ({ project, sources }: LoadedConfig, cwd: string): string =>
  project.trust === "trusted" ? cwd : sources.home;

function describeInactive(hooks: readonly ConfiguredHook[]): string {
  const modified = hooks.filter(({ trust }) => trust === "modified").length;
  const files = [...new Set(hooks.map(({ hook }) => hook.file))].join(", ");
  const changed = modified === 0 ? "" : ` (${modified} changed since)`;
  return hooks.length === 1
    ? `a hook does not run, as nobody has trusted it${changed}: ${files}`
    : `${hooks.length} hooks do not run, as nobody has trusted them${changed}: ${files}`;
}
