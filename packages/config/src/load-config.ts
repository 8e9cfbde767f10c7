import { join } from "node:path";
import { parseKeyPath, type TomlTable } from "@codex/toml";
import { ConfigError, createValueError, renderValue } from "./config-error.js";
import { type FlagSetting, parseFlags } from "./flags.js";
import { refusePluginHooks } from "./hooks/hooks-file.js";
import { type ConfiguredHook, FLAGS_FILE, type HookLayer, loadHooks } from "./hooks/load-hooks.js";
import { areHooksOff, arePluginsOff } from "./hooks/switches.js";
import { KEYS, type Key } from "./keys.js";
import { BUILT_IN_PERMISSIONS, type Entry, type Layer, readLayer } from "./layer.js";
import { MAX_PROJECT_LAYERS } from "./limits.js";
import { restrictServers } from "./mcp-requirement.js";
import { describeOrigin, describePlace, type FileLayer, type Origin } from "./origin.js";
import { type ProfileRequirement, type Requirements, readRequirements } from "./requirements.js";
import { CONFIG_TABLE } from "./restrictions/config-rows.js";
import { findRow } from "./restrictions/find-restrictions.js";
import { refuseManagedPreferences } from "./restrictions/managed-preferences.js";
import { refuseRestrictions } from "./restrictions/refuse-restrictions.js";
import { createSettings, findProfile, readSetting, type Settings, type Values } from "./settings.js";
import { mergeSources, readSource, type Source } from "./source.js";
import { isTable } from "./tables.js";
import { findProject, type Project } from "./trust.js";
import { describeUnknownKeys } from "./unknown-keys.js";

/** The directories and flags that settings are read from. */
export interface ConfigSources {
  /** `$CODEX_HOME`. */
  home: string;
  homeOrigin: Origin;
  /** `/etc/codex`. */
  system: string;
  /** Files of preferences of macOS that an administrator manages. */
  managedPreferences?: readonly string[];
  /** The user's working directory. */
  directory: string;
  /** Directory that commands run in, which determines the project; default `directory`. */
  projectDirectory?: string | undefined;
  /** `--profile`. */
  profile?: string | undefined;
  /** The user's `config.toml` is not read. */
  ignoreUser?: boolean | undefined;
  /** Hooks run that nobody has trusted. */
  bypassHookTrust?: boolean | undefined;
  /** Settings given as flags, `key=value` each; the last one wins. */
  flags?: readonly FlagSetting[];
}

/** The effective settings and their origins. */
export interface LoadedConfig {
  settings: Settings;
  /** The permission profiles that a model may ask for, by name; none where none is configured. */
  profiles: ReadonlyMap<string, Pick<Settings, "sandbox" | "network">>;
  /** What `default_permissions` names; undefined where `sandbox_mode` chooses. */
  profileName: string | undefined;
  values: Values;
  layers: readonly { layer: FileLayer; file: string; state: "used" | "missing" | "not trusted" }[];
  project: Project;
  /** The MCP servers, whether each may start, and who decided that. */
  mcpServers: readonly { name: string; isOn: boolean; origin: Origin }[];
  /** Keys that are no settings of commands, and are read where they are needed, such as those of models. */
  elsewhere: Layer["unused"];
  /** Keys that have no effect here. */
  unused: Layer["unused"];
  /** Messages about those that Codex does not have either; part of `notices`. */
  unknownKeys: readonly string[];
  /** Messages for the user about ignored settings. */
  notices: readonly string[];
  requirements: Requirements | undefined;
  /** Those of all layers; none where they are turned off. */
  hooks: readonly ConfiguredHook[];
  /**
   * The merged tables of system, user, profile and flags, including keys that are not settings here. Without the tables of a
   * project, which must not choose the endpoint of a model.
   */
  table: Source["table"];
  sources: ConfigSources;
}

/**
 * All settings from defaults, system, user, profile, trusted project and flags. Later layers override earlier ones, within
 * the requirements.
 * @throws ConfigError for a file that cannot be read or an invalid value
 */
export async function loadConfig(sources: ConfigSources): Promise<LoadedConfig> {
  const stack = new LayerStack();
  await stack.addFile("system", join(sources.system, "config.toml"), sources.system);
  await addUser(stack, sources);
  const flags = parseFlags(sources.flags ?? [], sources.directory);
  const chosen = stack.with(flags);
  const markers = readSetting(chosen, KEYS.projectRootMarkers);
  const project = await findProject(
    sources.projectDirectory ?? sources.directory,
    markers,
    readSetting(chosen, KEYS.projects),
  );
  stack.setDefaults(project, sources.home);
  await addProject(stack, project, sources);
  stack.add(flags);
  stack.hookLayers.push({
    file: FLAGS_FILE,
    directory: undefined,
    source: flags.source,
    isManaged: false,
    isUsers: true,
  });
  stack.setModeOfProfile();
  await refuseManagedPreferences(sources.managedPreferences ?? []);
  const requirements = await readRequirements(sources.system);
  if (requirements !== undefined) applyRequirements(stack, requirements);
  const hooks = await refuseAllRestrictions(stack, requirements, sources);
  const { values, layers, unused } = stack;
  const own = mergeSources(stack.own);
  const { table, notices: turnedOff } =
    requirements?.mcpServers === undefined
      ? { table: own.table, notices: [] }
      : restrictServers(own.table, requirements.mcpServers);
  const unknownKeys = describeUnknownKeys(unused);
  const notices = [...unknownKeys, ...stack.notices, ...hooks.notices, ...turnedOff];
  const { profileName } = stack;
  const settings = createSettings(values, requirements, profileName !== undefined);
  return {
    settings,
    profiles: listProfiles(values, requirements, profileName),
    profileName,
    values,
    layers,
    project,
    mcpServers: listServers(own, table, requirements),
    elsewhere: unused.filter(isReadElsewhere),
    unused: unused.filter((each) => !isReadElsewhere(each)),
    unknownKeys,
    notices,
    requirements,
    hooks: hooks.hooks,
    table,
    sources,
  };
}

/** Those of the configuration, and the one that is built in for the workspace, as far as the administrator and the project allow them. */
function listProfiles(
  values: Values,
  requirements: Requirements | undefined,
  current: string | undefined,
): LoadedConfig["profiles"] {
  const configured = Object.keys(readSetting(values, KEYS.permissions));
  const found = new Map<string, Pick<Settings, "sandbox" | "network">>();
  if (configured.length === 0) return found;
  const { allowed } = requirements?.profiles ?? {};
  const mode = values.get(KEYS.sandboxMode.name);
  const isReadOnlyProject =
    mode?.value === "read-only" && mode.origin.kind === "file" && mode.origin.layer === "project";
  for (const name of [":workspace", ...configured]) {
    if (name === current || allowed?.includes(name) === false) continue;
    const asked = new Map(values);
    asked.delete(KEYS.sandboxMode.name);
    asked.set(KEYS.defaultPermissions.name, { value: name, origin: { kind: "default" } });
    const own = tryCreate(asked, requirements);
    if (own === undefined) continue;
    const { sandbox, network } = own;
    const isAllowed = requirements?.sandboxModes?.allowed?.includes(sandbox.mode) ?? true;
    if (isAllowed && !(isReadOnlyProject && sandbox.mode !== "read-only")) found.set(name, { sandbox, network });
  }
  return found;
}

/** A profile that is none is an error where it is chosen. */
function tryCreate(values: Values, requirements: Requirements | undefined): Settings | undefined {
  try {
    return createSettings(values, requirements, true);
  } catch (error) {
    if (error instanceof ConfigError) return undefined;
    throw error;
  }
}

/** @param table with the servers turned off that are not allowed */
function listServers(
  own: Source,
  { mcp_servers: servers }: TomlTable,
  requirements: Requirements | undefined,
): LoadedConfig["mcpServers"] {
  if (!isTable(servers)) return [];
  const given = isTable(own.table.mcp_servers) ? own.table.mcp_servers : {};
  return Object.entries(servers).map(([name, server]) => {
    const isOn = isTable(server) && server.enabled !== false;
    const before = given[name];
    const origin = isTable(before) && before.enabled !== undefined ? ["enabled"] : [];
    const wasOn = isTable(before) && before.enabled !== false;
    const required = wasOn && !isOn ? requirements?.mcpServers?.origin : undefined;
    return { name, isOn, origin: required ?? own.locate(["mcp_servers", name, ...origin]) };
  });
}

/** Servers and hooks are listed on their own. */
function isReadElsewhere({ key, origin }: Layer["unused"][number]): boolean {
  const path = parseKeyPath(key) ?? [key];
  if (origin.kind === "file" && origin.layer === "requirements") return false;
  const row = findRow(CONFIG_TABLE, path);
  return row === "table" || row?.here === "supported";
}

class LayerStack {
  readonly values = new Map<string, Omit<Entry, "key">>();
  readonly layers: { layer: FileLayer; file: string; state: "used" | "missing" | "not trusted" }[] = [];
  readonly unused: Layer["unused"][number][] = [];
  readonly notices: string[] = [];
  /** Without those of a project. */
  readonly own: Source[] = [];
  readonly all: Source[] = [];
  readonly hookLayers: HookLayer[] = [];
  /** The last `default_permissions`, unless a mode was chosen since. */
  #named: string | undefined;

  /** Returns false when there is no such file. */
  async addFile(layer: FileLayer, file: string, directory: string): Promise<boolean> {
    const source = await readSource(file, layer);
    this.layers.push({ layer, file, state: source === undefined ? "missing" : "used" });
    const isManaged = layer === "system";
    this.hookLayers.push({ file, directory, source, isManaged, isUsers: !isManaged });
    if (source !== undefined) this.add(readLayer(source, directory));
    return source !== undefined;
  }

  add({ entries, unused, source }: Layer): void {
    for (const entry of entries) this.set(entry);
    const { default_permissions: named, sandbox_mode: mode } = source.table;
    if (typeof named === "string") this.#named = named;
    else if (mode !== undefined) this.#named = undefined;
    this.unused.push(...unused);
    this.own.push(source);
    this.all.push(source);
  }

  set({ key, value, origin, origins }: Entry): void {
    // The later of the two decides.
    if (key.name === KEYS.sandboxMode.name) {
      const profile = this.values.get(KEYS.defaultPermissions.name);
      this.values.delete(KEYS.defaultPermissions.name);
      if (profile !== undefined) {
        const replaced = `permission profile ${renderValue(profile.value)} (${describePlace(profile.origin)})`;
        this.notices.push(
          `${describePlace(origin)}: \`sandbox_mode\` = ${renderValue(value)} is in place of ${replaced}`,
        );
      }
    }
    if (key.name === KEYS.defaultPermissions.name) this.values.delete(KEYS.sandboxMode.name);
    const before = this.values.get(key.name);
    const merged =
      key.merges === true && before !== undefined ? { ...(before.value as object), ...(value as object) } : value;
    this.values.set(key.name, { value: merged, origin, origins: { ...before?.origins, ...origins } });
  }

  /** A copy of the values, overridden by this layer. */
  with({ entries }: Layer): Values {
    const copy = new LayerStack();
    for (const [name, value] of this.values) copy.values.set(name, value);
    for (const entry of entries) copy.set(entry);
    return copy.values;
  }

  /** Defaults that depend on the host or the project. */
  setDefaults({ trust }: Project, home: string): void {
    const offer = <T>(key: Key<T>, value: T, why: string) => {
      if (!this.values.has(key.name)) this.values.set(key.name, { value, origin: { kind: "default", why } });
    };
    this.setModeOfProfile();
    offer(KEYS.auditPath, join(home, KEYS.auditPath.fallback), "in $CODEX_HOME");
    if (trust === "trusted") offer(KEYS.sandboxMode, "workspace-write", "the project is marked trusted");
    if (trust === "untrusted") offer(KEYS.approvalPolicy, "untrusted", "the project is marked untrusted");
  }

  /** The mode that a profile amounts to is what projects and administrators may restrict. */
  setModeOfProfile(): void {
    const named = this.values.get(KEYS.defaultPermissions.name);
    if (named === undefined || this.values.has(KEYS.sandboxMode.name)) return;
    const mode = findProfile(this.values)?.mode;
    if (mode !== undefined) this.values.set(KEYS.sandboxMode.name, { value: mode, origin: named.origin });
  }

  /** The name of the profile, or of the mode as one. */
  get permissions(): { name: string; origin: Origin } {
    const named = this.values.get(KEYS.defaultPermissions.name);
    if (named !== undefined) return { name: named.value as string, origin: named.origin };
    const mode = this.values.get(KEYS.sandboxMode.name);
    const value = mode?.value ?? KEYS.sandboxMode.fallback;
    const [name] = [...BUILT_IN_PERMISSIONS].find(([, each]) => each === value)!; // each mode has one
    return { name, origin: mode?.origin ?? { kind: "default" } };
  }

  /** The permission profile, or the mode that was chosen by a name as one; undefined for a mode. */
  get profileName(): string | undefined {
    const { name } = this.permissions;
    return this.#named === name ? name : undefined;
  }

  /** Chooses a profile or a mode in place of what was chosen. */
  setPermissions(name: string, origin: Origin): void {
    this.#named = name;
    this.values.delete(KEYS.sandboxMode.name);
    this.values.delete(KEYS.defaultPermissions.name);
    const mode = BUILT_IN_PERMISSIONS.get(name);
    if (mode !== undefined) this.values.set(KEYS.sandboxMode.name, { value: mode, origin });
    else this.values.set(KEYS.defaultPermissions.name, { value: name, origin });
    this.setModeOfProfile();
  }

  /** Applies a setting of a project to the extent that it restricts. */
  narrow({ key, value, origin, origins }: Entry, project: string): void {
    const before = this.values.get(key.name);
    const base = before?.value ?? key.fallback;
    const applied = key.tighten?.(base, value, project) ?? base;
    const isApplied = JSON.stringify(applied) === JSON.stringify(value);
    if (JSON.stringify(applied) !== JSON.stringify(base)) {
      const changed = Object.entries(origins ?? {}).filter(([name]) => entryOf(applied, name) !== entryOf(base, name));
      const known = { ...before?.origins, ...Object.fromEntries(changed) };
      this.values.set(key.name, { value: applied, origin, origins: known });
    }
    if (isApplied || isAdded(applied, value)) return;
    const shown = renderValue(value, key.secret);
    const why = key.tighten === undefined ? "a project cannot set it" : "a project can only restrict";
    const stays = key.secret === true ? "" : `; it is ${renderValue(applied)}`;
    this.notices.push(`${describePlace(origin)}: \`${key.name}\` = ${shown} is ignored: ${why}${stays}`);
  }
}

const entryOf = (table: unknown, name: string): unknown => (isTable(table) ? table[name] : undefined);

/** Whether all elements of a requested list are in the result. */
const isAdded = (applied: unknown, requested: unknown): boolean =>
  Array.isArray(applied) && Array.isArray(requested) && requested.every((one) => applied.includes(one));

async function addUser(stack: LayerStack, { home, profile, ignoreUser = false }: ConfigSources): Promise<void> {
  const file = join(home, "config.toml");
  if (!ignoreUser) await stack.addFile("user", file, home);
  const legacy = stack.unused.find(({ key, origin }) => key === "profile" && isUser(origin));
  if (legacy !== undefined) {
    const move = "use `--profile NAME` with a file NAME.config.toml next to config.toml";
    throw new ConfigError(`${describePlace(legacy.origin)}: \`profile\` is no longer supported, as in Codex; ${move}`);
  }
  if (profile === undefined) return;
  if (!/^[A-Za-z0-9_-]+$/.test(profile)) {
    throw new ConfigError(`--profile is ${JSON.stringify(profile)}; expected letters, digits, _ and -`, "usage");
  }
  const own = join(home, `${profile}.config.toml`);
  if (await stack.addFile("profile", own, home)) return;
  throw new ConfigError(`--profile ${profile}: there is no file ${own}`, "usage");
}

const isUser = (origin: Origin) => origin.kind === "file" && origin.layer === "user";

async function addProject(stack: LayerStack, project: Project, { home }: ConfigSources): Promise<void> {
  for (const { path, trust } of project.directories.slice(-MAX_PROJECT_LAYERS)) {
    const directory = join(path, ".codex");
    const file = join(directory, "config.toml");
    if (directory === home) continue;
    if (trust !== "trusted") {
      stack.layers.push({ layer: "project", file, state: "not trusted" });
      continue;
    }
    const source = await readSource(file, "project");
    stack.layers.push({ layer: "project", file, state: source === undefined ? "missing" : "used" });
    stack.hookLayers.push({ file, directory, source, isManaged: false, isUsers: false });
    if (source === undefined) continue;
    stack.all.push(source);
    const { entries, unused } = readLayer(source, directory);
    for (const entry of entries) stack.narrow(entry, project.root);
    stack.unused.push(...unused);
  }
}

/**
 * What a file or flag restricts and is not enforced here is an error. A project cannot take back what a file of the user restricts.
 * @returns the hooks, which are enforced
 * @throws ConfigError
 */
async function refuseAllRestrictions(
  stack: LayerStack,
  requirements: Requirements | undefined,
  { home, bypassHookTrust = false }: ConfigSources,
): ReturnType<typeof loadHooks> {
  const required = requirements === undefined ? [] : [requirements.features];
  const merged = [stack.own, stack.all].map((sources) => mergeSources([...sources, ...required]));
  for (const source of merged) refuseRestrictions(source);
  if (merged.every(({ table }) => areHooksOff(table))) return { hooks: [], notices: [] };
  const managedOnly = requirements?.managedHooksOnly === true;
  for (const { table } of merged) {
    if (!managedOnly && !arePluginsOff(table)) await refusePluginHooks(home, table.plugins);
  }
  // A layer adds hooks and takes none of another away.
  const layers = [...(requirements?.hooks === undefined ? [] : [requirements.hooks]), ...stack.hookLayers];
  return loadHooks(layers, { managedOnly, trustAll: bypassHookTrust });
}

function applyRequirements(
  stack: LayerStack,
  { approvalPolicies, sandboxModes, profiles, denyRead, pinned, unused }: Requirements,
): void {
  restrict(stack, KEYS.approvalPolicy, approvalPolicies);
  if (profiles !== undefined) restrictPermissions(stack, profiles);
  refuseLostFullAccess(stack, sandboxModes);
  restrict(stack, KEYS.sandboxMode, sandboxModes);
  const before = readSetting(stack.values, KEYS.denyRead);
  const origin = stack.values.get(KEYS.denyRead.name)?.origin ?? { kind: "default" };
  if (denyRead.length > 0) stack.set({ key: KEYS.denyRead, value: [...before, ...denyRead], origin });
  for (const layer of pinned) stack.add(layer);
  stack.unused.push(...unused);
}

/** As in Codex: full access that is not allowed is not silently less where nobody may be asked for more. */
function refuseLostFullAccess(stack: LayerStack, modes: Requirements["sandboxModes"]): void {
  const [mode, full] = [readSetting(stack.values, KEYS.sandboxMode), "danger-full-access"] as const;
  const requested = stack.values.get(KEYS.sandboxMode.name)?.origin;
  if (modes === undefined || mode !== full || modes.allowed.includes(full) || requested?.kind === "flag") return;
  if (readSetting(stack.values, KEYS.approvalPolicy) !== "never") return;
  throw new ConfigError(
    `${describePlace(requested ?? modes.origin)}: \`sandbox_mode\` = "${full}" is not allowed by ${describePlace(modes.origin)}, and with \`approval_policy\` = "never" nothing more than "${modes.allowed[0]}" could be asked for; choose another of the two`,
  );
}

/** A profile, or mode, that is not allowed becomes the required one, else the first that is allowed; that of a flag is an error. */
function restrictPermissions(stack: LayerStack, { allowed, fallback, origin }: ProfileRequirement): void {
  const profiles = readSetting(stack.values, KEYS.permissions);
  const undefinedName = allowed?.find((each) => !BUILT_IN_PERMISSIONS.has(each) && !Object.hasOwn(profiles, each));
  if (undefinedName !== undefined) {
    const problem = `allows permission profile ${renderValue(undefinedName)}, which no file defines`;
    throw new ConfigError(`${describePlace(origin)}: \`allowed_permission_profiles\` ${problem}`);
  }
  const { name, origin: requested } = stack.permissions;
  const isDefault = requested.kind === "default";
  if (isDefault && fallback !== undefined) return stack.setPermissions(fallback, origin);
  if (allowed === undefined || allowed.includes(name)) return;
  const list = allowed.map((each) => renderValue(each)).join(", ");
  if (requested.kind === "flag") {
    throw createValueError(
      requested,
      KEYS.defaultPermissions.name,
      renderValue(name),
      `${list} (${describePlace(origin)})`,
    );
  }
  const chosen = fallback ?? allowed[0]!; // one at least is allowed
  stack.setPermissions(chosen, origin);
  if (isDefault) return;
  stack.notices.push(
    `${describeOrigin(requested)}: permission profile ${renderValue(name)} is not allowed by ${describePlace(origin)}; it is ${renderValue(chosen)}`,
  );
}

/** A value of a file that is not allowed becomes the first allowed one, as in Codex; that of a flag is an error. */
function restrict<T>(
  stack: LayerStack,
  key: Key<T>,
  requirement: { allowed: readonly T[]; origin: Origin } | undefined,
): void {
  if (requirement === undefined) return;
  const { allowed, origin } = requirement;
  const value = readSetting(stack.values, key);
  if (allowed.some((one) => JSON.stringify(one) === JSON.stringify(value))) return;
  const requested = stack.values.get(key.name)?.origin ?? { kind: "default" };
  const list = allowed.map((one) => renderValue(one)).join(", ");
  if (requested.kind === "flag")
    throw createValueError(requested, key.name, renderValue(value), `${list} (${describePlace(origin)})`);
  stack.values.set(key.name, { value: allowed[0], origin });
  if (requested.kind === "default") return;
  const first = renderValue(allowed[0]);
  stack.notices.push(
    `${describeOrigin(requested)}: \`${key.name}\` = ${renderValue(value)} is not allowed by ${describePlace(origin)}; it is ${first}`,
  );
}
