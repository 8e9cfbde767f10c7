import { homedir } from "node:os";
import { resolve } from "node:path";
import { renderKeyPath, type TomlTable } from "@codex/toml";
import { safeParse } from "zod/mini";
import { ConfigError, createValueError, renderValue } from "./config-error.js";
import { KEY_BY_NAME, KEYS, type Key } from "./keys.js";
import { createNetworkRules, type Domains } from "./network-domains.js";
import { describePlace, type Origin } from "./origin.js";
import type { Source } from "./source.js";
import { isTable } from "./tables.js";

/** A validated value of a known key. */
export interface Entry {
  key: Key<unknown>;
  value: unknown;
  origin: Origin;
  /** Where each entry of a table stands that later layers are merged into. */
  origins?: Readonly<Record<string, Origin>> | undefined;
}

/** The settings of one file, or of the flags. */
export interface Layer {
  entries: readonly Entry[];
  /** Keys that this project does not use. */
  unused: readonly { key: string; origin: Origin }[];
  /** The whole table as it was read, and the place of each key. */
  source: Source;
}

/**
 * The settings of one source. Relative paths are resolved against `directory`.
 * @throws ConfigError for an invalid value
 */
export function readLayer({ table, locate }: Source, directory: string): Layer {
  const entries: Entry[] = [];
  const unused: { key: string; origin: Origin }[] = [];
  const visit = (path: readonly string[], value: unknown) => {
    const name = renderKeyPath(path);
    const key = KEY_BY_NAME.get(name);
    const origin = locate(path);
    if (key !== undefined) {
      const names = key.merges === true && isTable(value) ? Object.keys(value) : [];
      const origins = Object.fromEntries(names.map((inner) => [inner, locate([...path, inner])]));
      return entries.push({ key, value: readValue(key, value, { path, locate, directory }), origin, origins });
    }
    if (!hasKeysBelow(name)) return unused.push({ key: name, origin });
    if (!isTable(value)) throw createValueError(origin, name, renderValue(value), "a table");
    for (const [part, inner] of Object.entries(value)) visit([...path, part], inner);
    return undefined;
  };
  for (const [part, value] of Object.entries(usePermissions(spellOut(table), locate(["default_permissions"]))))
    visit([part], value);
  checkFilters(entries);
  checkDomains(entries, locate);
  return { entries, unused, source: { table, locate } };
}

/** `features.network_proxy = true` is short for a table with `enabled`. */
function spellOut(table: TomlTable): TomlTable {
  const { features } = table;
  if (!isTable(features) || typeof features.network_proxy !== "boolean") return table;
  return { ...table, features: { ...features, network_proxy: { enabled: features.network_proxy } } };
}

/** @throws ConfigError for the first pattern of hosts that is none */
function checkDomains(entries: readonly Entry[], locate: Source["locate"]): void {
  const found = entries.find(({ key }) => key.name === KEYS.networkDomains.name);
  const path = KEYS.networkDomains.name.split(".");
  createNetworkRules((found?.value ?? {}) as Domains, (pattern) => locate([...path, pattern]));
}

/** The names in `default_permissions` that are sandbox modes. */
export const BUILT_IN_PERMISSIONS: ReadonlyMap<string, string> = new Map([
  [":read-only", "read-only"],
  [":workspace", "workspace-write"],
  [":danger-full-access", "danger-full-access"],
]);

/** `default_permissions` also names a sandbox mode in Codex, and wins over `sandbox_mode` beside it. */
function usePermissions(table: TomlTable, origin: Origin): TomlTable {
  const { default_permissions: name, ...rest } = table;
  if (name === undefined) return table;
  const mode = BUILT_IN_PERMISSIONS.get(String(name));
  if (mode !== undefined) return { ...rest, sandbox_mode: mode };
  if (typeof name === "string" && name !== "" && !name.startsWith(":")) {
    const { sandbox_mode: _, ...others } = table;
    return others;
  }
  const expected = `one of ${[...BUILT_IN_PERMISSIONS.keys()].join(", ")}, or the name of a profile of [permissions]`;
  throw createValueError(origin, "default_permissions", renderValue(name), expected);
}

const hasKeysBelow = (name: string) => [...KEY_BY_NAME.keys()].some((known) => known.startsWith(`${name}.`));

interface Reading extends Pick<Source, "locate"> {
  path: readonly string[];
  directory: string;
}

function readValue(key: Key<unknown>, value: unknown, { path: at, locate, directory }: Reading): unknown {
  const parsed = safeParse(key.schema, value);
  if (parsed.success) return key.paths === undefined ? parsed.data : resolvePaths(parsed.data, directory, key.paths);
  const path = parsed.error.issues[0]?.path ?? [];
  const names = path.map(String);
  const isSecret = key.secret === true;
  const wrong = path.reduce<unknown>((part, step) => (isTable(part) ? part[String(step)] : part), value);
  const shown = renderValue(Array.isArray(value) ? value : wrong, isSecret);
  const name = Array.isArray(value) ? key.name : renderKeyPath([...key.name.split("."), ...names]);
  throw createValueError(locate([...at, ...names]), name, shown, key.expected);
}

function resolvePaths(value: unknown, directory: string, whose: "own" | "executor"): unknown {
  if (Array.isArray(value)) return value.map((path: unknown) => resolvePaths(path, directory, whose));
  if (typeof value === "string" && value.startsWith("!") && whose === "executor") {
    return `!${String(resolvePaths(value.slice(1), directory, whose))}`;
  }
  if (typeof value !== "string" || (whose === "executor" && /^~(\/|$)/.test(value))) return value;
  return value === "~" || value.startsWith("~/") ? resolve(homedir(), value.slice(2)) : resolve(directory, value);
}

/** `filters` excludes `exclude` and `include_only`, as in Codex. */
function checkFilters(entries: readonly Entry[]): void {
  const find = (key: Key<never> | Key<unknown> | { name: string }) =>
    entries.find((entry) => entry.key.name === key.name);
  const filters = find(KEYS.filters);
  const other = find(KEYS.exclude) ?? find(KEYS.includeOnly);
  if (filters === undefined || other === undefined) return;
  throw new ConfigError(
    `${describePlace(filters.origin)}: \`${filters.key.name}\` cannot be combined with \`${other.key.name}\`; use one of them`,
  );
}
