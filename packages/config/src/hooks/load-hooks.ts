import { join } from "node:path";
import { type Hook, HookError } from "@codex/hooks";
import type { ReadHooks } from "@codex/hooks/node";
import { renderKeyPath, type TomlTable } from "@codex/toml";
import { ConfigError } from "../config-error.js";
import { describePlace, type Origin } from "../origin.js";
import type { Source } from "../source.js";
import { isTable } from "../tables.js";
import { readHooksFile } from "./hooks-file.js";
import { HOOKS_OFF } from "./switches.js";

/** A hook of the configuration, and whether it may run. */
export interface ConfiguredHook {
  readonly hook: Hook;
  /** `managed`: the administrator's, which nobody else can turn off. `modified`: trusted before it was changed. */
  readonly trust: "managed" | "trusted" | "modified" | "untrusted";
  /** It was not turned off. */
  readonly isEnabled: boolean;
  /** It runs. */
  readonly isActive: boolean;
}

/** A place that hooks are read from. */
export interface HookLayer {
  /** Of its settings, and the beginning of the keys of its hooks. */
  readonly file: string;
  /** Has a `hooks.json`, perhaps. */
  readonly directory: string | undefined;
  readonly source: Source | undefined;
  /** The administrator's. */
  readonly isManaged: boolean;
  /** Says which hooks are trusted. */
  readonly isUsers: boolean;
}

/** The file of hooks that flags define. */
export const FLAGS_FILE = "/<session-flags>/config.toml";

/**
 * All hooks in the order in which Codex runs them: those of the layers from the first to the last, of each first those of its `hooks.json`.
 * @param managedOnly others do not exist
 * @param trustAll hooks run that nobody has trusted
 * @throws ConfigError for what is no hook, with its place
 */
export async function loadHooks(
  layers: readonly HookLayer[],
  { managedOnly, trustAll }: { managedOnly: boolean; trustAll: boolean },
): Promise<{ hooks: readonly ConfiguredHook[]; notices: readonly string[] }> {
  const states = readStates(layers);
  const hooks: ConfiguredHook[] = [];
  const notices: string[] = [];
  const read = new Set<string>();
  for (const { file, directory, source, isManaged } of layers) {
    if (managedOnly && !isManaged) continue;
    const add = async (
      events: Readonly<Record<string, unknown>>,
      from: string,
      locate: (path: readonly string[]) => Origin,
    ) => {
      const found = await readPlaced(events, from, locate);
      notices.push(...found.warnings.map((warning) => `${from}: ${warning}`));
      hooks.push(...found.hooks.map((hook) => judge(hook, isManaged, states, trustAll)));
    };
    if (directory !== undefined && !read.has(directory)) {
      read.add(directory);
      const found = await readHooksFile(join(directory, "hooks.json"));
      if (found !== undefined) {
        const locate = ([, event = ""]: readonly string[]): Origin => ({
          kind: "file",
          layer: isManaged ? "system" : "user",
          file: found.file,
          line: found.lineOf(event),
        });
        await add(found.events, found.file, locate);
      }
    }
    const own = source?.table.hooks;
    if (source === undefined || own === undefined) continue;
    if (!isTable(own)) throw createHookError(source.locate(["hooks"]), ["hooks"], "expected a table");
    await add(own, file, source.locate);
  }
  return { hooks, notices };
}

/** @throws ConfigError */
async function readPlaced(
  events: Readonly<Record<string, unknown>>,
  file: string,
  locate: (path: readonly string[]) => Origin,
): Promise<ReadHooks> {
  const { hookEvents, readHooks } = await import("@codex/hooks/node"); // most configurations have none
  const unknown = Object.keys(events).find(
    (event) => !hookEvents.some((known) => known === event) && !NO_EVENTS.includes(event),
  );
  if (unknown !== undefined) {
    const path = ["hooks", unknown];
    throw createHookError(locate(path), path, `there is no such event; events are ${hookEvents.join(", ")}`);
  }
  try {
    return readHooks(events, { file });
  } catch (error) {
    if (!(error instanceof HookError)) throw error;
    const path = ["hooks", ...error.path];
    throw createHookError(locate(path), path, error.message);
  }
}

/** Keys beside the events: which hooks are trusted, and where an administrator keeps programs of hooks. */
const NO_EVENTS = ["state", "managed_dir", "windows_managed_dir"];

const createHookError = (origin: Origin, path: readonly string[], problem: string): ConfigError =>
  new ConfigError(
    `${describePlace(origin)}: \`${renderKeyPath(path)}\`: ${problem}; ${HOOKS_OFF}`,
    origin.kind === "flag" ? "usage" : "invalid",
  );

interface State {
  enabled?: boolean;
  hash?: string;
}

/** What the user has said of hooks, by their keys. */
function readStates(layers: readonly HookLayer[]): ReadonlyMap<string, State> {
  const states = new Map<string, State>();
  for (const { source, isUsers } of layers) {
    const own = isUsers ? source?.table.hooks : undefined;
    const given: TomlTable = isTable(own) && isTable(own.state) ? own.state : {};
    for (const [key, value] of Object.entries(given)) {
      if (!isTable(value)) continue;
      const { enabled, trusted_hash: hash } = value;
      states.set(key, {
        ...states.get(key),
        ...(typeof enabled === "boolean" ? { enabled } : {}),
        ...(typeof hash === "string" ? { hash } : {}),
      });
    }
  }
  return states;
}

function judge(hook: Hook, isManaged: boolean, states: ReadonlyMap<string, State>, trustAll: boolean): ConfiguredHook {
  if (isManaged) return { hook, trust: "managed", isEnabled: true, isActive: true };
  const { enabled = true, hash } = states.get(hook.key) ?? {};
  const trust = hash === hook.hash ? "trusted" : hash === undefined ? "untrusted" : "modified";
  return { hook, trust, isEnabled: enabled, isActive: enabled && (trust === "trusted" || trustAll) };
}
