import { type ConfigFlags, type ConfiguredHook, saveHookTrust } from "@codex/config";
import { CommandError, EXIT } from "../exit-codes.js";
import { printJson, printLine, say } from "../notice.js";
import { openConfig } from "../open-config.js";

/** Prints all hooks, and whether they run. */
export async function runHooksList({ json, ...flags }: ConfigFlags & { json: boolean }): Promise<void> {
  const { hooks } = await openConfig(flags);
  if (json) printJson(hooks.map(toJson));
  else if (hooks.length === 0) say("there are no hooks");
  else for (const each of hooks) printLine(describe(each));
}

/** Trusts hooks as they are now. @param keys those of `codex hooks` */
export async function runHooksTrust(
  keys: readonly string[],
  { all, ...flags }: ConfigFlags & { all: boolean },
): Promise<void> {
  if (all === keys.length > 0) throw new CommandError("hooks trust needs keys of `codex hooks`, or --all", EXIT.usage);
  const { hooks, sources } = await openConfig(flags);
  const open = hooks.filter(({ trust }) => trust === "untrusted" || trust === "modified");
  const chosen = all ? open : keys.map((key) => find(hooks, key));
  if ((await saveHookTrust(sources.home, chosen)) === "kept") return say("there was nothing to trust");
  for (const { hook } of chosen) printLine(`trusted ${hook.key}: ${hook.command}`);
}

function find(hooks: readonly ConfiguredHook[], key: string): ConfiguredHook {
  const found = hooks.find(({ hook }) => hook.key === key);
  if (found === undefined)
    throw new CommandError(`there is no hook ${JSON.stringify(key)}; \`codex hooks\` lists them`);
  if (found.trust === "managed")
    throw new CommandError(`${key} is the administrator's, and runs without being trusted`);
  return found;
}

const toJson = ({ hook, trust, isEnabled, isActive }: ConfiguredHook) => {
  const { key, event, matcher, command, timeoutMs, isAsync, file, hash } = hook;
  return {
    key,
    event,
    matcher: matcher ?? null,
    command,
    timeout_seconds: timeoutMs / 1000,
    async: isAsync,
    file,
    hash,
    trust,
    enabled: isEnabled,
    runs: isActive,
  };
};

function describe({ hook, trust, isEnabled, isActive }: ConfiguredHook): string {
  const state = isActive ? "runs" : isEnabled ? `does not run: ${trust}` : "turned off";
  const { key, matcher, command, event } = hook;
  const about = matcher === undefined ? event : `${event} ${matcher}`;
  return `${key}\n  ${about}: ${command}\n  ${state}${isActive && trust === "managed" ? " (managed)" : ""}`;
}
