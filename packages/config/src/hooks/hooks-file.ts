import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "@codex/values";
import { ConfigError } from "../config-error.js";
import { readIfPresent } from "../restrictions/read-if-present.js";
import { isTable } from "../tables.js";
import { HOOKS_OFF } from "./switches.js";

/** Largest `hooks.json` that is read, in bytes. */
const MAX_HOOKS_BYTES = 1024 * 1024;

/** The hooks of a `hooks.json`, by their events. */
export interface HooksFile {
  readonly file: string;
  readonly events: Readonly<Record<string, unknown>>;
  /** The line on which an event first stands. */
  lineOf(event: string): number;
}

/**
 * The hooks of a file; undefined if there is no such file, or no hooks are in it.
 * @throws ConfigError for one that cannot be read: there may be hooks in it
 */
export async function readHooksFile(file: string, goOn = HOOKS_OFF): Promise<HooksFile | undefined> {
  const text = await readText(file, goOn);
  const events = text === undefined ? undefined : parseHooks(file, text, goOn);
  if (text === undefined || events === undefined) return undefined;
  if (!isTable(events)) throw createUnread(file, "`hooks` is not an object", goOn);
  const lineOf = (event: string) => text.slice(0, text.indexOf(JSON.stringify(event))).split("\n").length;
  return { file, events, lineOf };
}

/**
 * Plugins bring hooks as well, in copies of them below `$CODEX_HOME`. They are not run here.
 * @param plugins the table `plugins`, by `NAME@MARKETPLACE`
 * @throws ConfigError for hooks of a plugin that is not turned off
 */
export async function refusePluginHooks(home: string, plugins: unknown): Promise<void> {
  if (!isTable(plugins)) return;
  const goOn = `${HOOKS_OFF}, \`-c features.plugins=false\` all plugins`;
  for (const [id, plugin] of Object.entries(plugins)) {
    const [, name, marketplace] = /^([^/@]+)@([^/@]+)$/.exec(id) ?? [];
    if (name === undefined || marketplace === undefined || (isTable(plugin) && plugin.enabled === false)) continue;
    const place = join(home, "plugins/cache", marketplace, name);
    for (const version of (await readdir(place).catch(() => [])).slice(0, MAX_PLUGIN_VERSIONS)) {
      const found = await readHooksFile(join(place, version, "hooks/hooks.json"), goOn);
      const [event] = Object.keys(found?.events ?? {});
      if (found === undefined || event === undefined) continue;
      throw new ConfigError(
        `${found.file}:${found.lineOf(event)}: \`hooks.${event}\` restricts in Codex and is not supported here: hooks of plugins are not run, so that nothing would stop what they stop; ${goOn}`,
      );
    }
  }
}

/** Most copies of one plugin that are read. */
const MAX_PLUGIN_VERSIONS = 64;

async function readText(file: string, goOn: string): Promise<string | undefined> {
  try {
    const bytes = await readIfPresent(file, MAX_HOOKS_BYTES);
    return bytes === undefined ? undefined : new TextDecoder().decode(bytes);
  } catch (error) {
    throw createUnread(file, messageOf(error), goOn);
  }
}

function parseHooks(file: string, text: string, goOn: string): unknown {
  try {
    const parsed: unknown = JSON.parse(text);
    return isTable(parsed) ? parsed.hooks : undefined;
  } catch {
    throw createUnread(file, "it is not JSON", goOn);
  }
}

const createUnread = (file: string, reason: string, goOn: string): ConfigError =>
  new ConfigError(`${file}: cannot be read, and its hooks may restrict: ${reason}; ${goOn}`);
