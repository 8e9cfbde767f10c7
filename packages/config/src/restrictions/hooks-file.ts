import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "@codex/values";
import { ConfigError } from "../config-error.js";
import { isTable } from "../tables.js";
import { findHandlerEvent, HOOKS_OFF, NO_HOOKS } from "./hooks.js";
import { readIfPresent } from "./read-if-present.js";

/** Largest `hooks.json` that is read, in bytes. */
const MAX_HOOKS_BYTES = 1024 * 1024;

/**
 * Hooks may also be in a `hooks.json` beside a `config.toml`.
 * @throws ConfigError for one with hooks, or that cannot be read: there may be hooks in it
 */
export async function refuseHooksFiles(directories: Iterable<string>): Promise<void> {
  for (const directory of directories) await refuseHooksFile(join(directory, "hooks.json"), HOOKS_OFF);
}

/**
 * Plugins bring hooks as well, in copies of them below `$CODEX_HOME`.
 * @param plugins the table `plugins`, by `NAME@MARKETPLACE`
 * @throws ConfigError as `refuseHooksFiles`
 */
export async function refusePluginHooks(home: string, plugins: unknown): Promise<void> {
  if (!isTable(plugins)) return;
  for (const [id, plugin] of Object.entries(plugins)) {
    const [, name, marketplace] = /^([^/@]+)@([^/@]+)$/.exec(id) ?? [];
    if (name === undefined || marketplace === undefined || (isTable(plugin) && plugin.enabled === false)) continue;
    const place = join(home, "plugins/cache", marketplace, name);
    for (const version of (await readdir(place).catch(() => [])).slice(0, MAX_PLUGIN_VERSIONS)) {
      await refuseHooksFile(
        join(place, version, "hooks/hooks.json"),
        `${HOOKS_OFF}, \`-c features.plugins=false\` all plugins`,
      );
    }
  }
}

/** Most copies of one plugin that are read. */
const MAX_PLUGIN_VERSIONS = 64;

async function refuseHooksFile(file: string, goOn: string): Promise<void> {
  const text = await readHooks(file, goOn);
  if (text === undefined) return;
  const hooks = parseHooks(file, text, goOn);
  if (hooks === undefined) return;
  if (!isTable(hooks)) throw createUnread(file, "`hooks` is not an object", goOn);
  const event = findHandlerEvent(hooks);
  if (event === undefined) return;
  const line = text.slice(0, text.indexOf(JSON.stringify(event))).split("\n").length;
  throw new ConfigError(
    `${file}:${line}: \`hooks.${event}\` restricts in Codex and is not supported here: ${NO_HOOKS}; ${goOn}`,
  );
}

async function readHooks(file: string, goOn: string): Promise<string | undefined> {
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
