import { join } from "node:path";
import { renderKeyPath, type TomlTable } from "@codex/toml";
import * as z from "zod/mini";
import { safeParse } from "zod/mini";
import { ConfigError, createValueError, renderValue } from "./config-error.js";
import type { HookLayer } from "./hooks/load-hooks.js";
import { approvalPolicySchema, KEYS, sandboxModeSchema } from "./keys.js";
import { type Layer, readLayer } from "./layer.js";
import { type McpRequirement, readMcpRequirement } from "./mcp-requirement.js";
import { createNetworkRules, type NetworkRule } from "./network-domains.js";
import { describePlace, type Origin } from "./origin.js";
import { findRestrictions, findRow } from "./restrictions/find-restrictions.js";
import { createRestrictionError } from "./restrictions/refuse-restrictions.js";
import { REQUIREMENTS_TABLE } from "./restrictions/requirements-rows.js";
import { readSource, type Source } from "./source.js";
import { isTable } from "./tables.js";
import type { ConfiguredApproval } from "./tighten.js";

type SandboxMode = z.infer<typeof sandboxModeSchema>;

/** The administrator's limits for every configuration on this host. */
export interface Requirements {
  /** Undefined: any. */
  approvalPolicies?: { allowed: readonly ConfiguredApproval[]; origin: Origin };
  sandboxModes?: { allowed: readonly SandboxMode[]; origin: Origin };
  /** Permission profiles and modes, by the names of `default_permissions`. */
  profiles?: ProfileRequirement;
  denyRead: readonly string[];
  /** Restricting rules, in the syntax of rule files. */
  rules?: { file: string; text: string };
  /** `[experimental_network]`. */
  network?: NetworkRequirement;
  /** `[audit]` and `allow_login_shell`, which override every other layer. */
  pinned: readonly Layer[];
  /** `[mcp_servers]`. */
  mcpServers?: McpRequirement;
  /** Its `[hooks]`. */
  hooks?: HookLayer;
  /** Only hooks of the administrator run. */
  managedHooksOnly: boolean;
  /** Whether a model may decide about requests for approval. */
  allowsModelReview: boolean;
  /** `[features]`, which override those of every other layer. */
  features: Source;
  unused: Layer["unused"];
}

/**
 * Reads `requirements.toml`.
 * @throws ConfigError for anything in it that is not known or cannot be enforced
 */
export async function readRequirements(directory: string): Promise<Requirements | undefined> {
  await refuseManagedConfig(directory);
  const file = join(directory, "requirements.toml");
  const source = await readSource(file, "requirements");
  if (source === undefined) return undefined;
  refuseUnenforceable(source);
  const { table, locate } = source;
  const at = (name: string) => locate([name]);
  const reviewers = table.allowed_approvals_reviewers;
  const denyRead = readDenyRead(source, directory);
  const sandboxModes = readModes(source, denyRead.length > 0);
  return {
    ...(table.allowed_approval_policies === undefined ? {} : { approvalPolicies: readPolicies(source) }),
    ...(sandboxModes === undefined ? {} : { sandboxModes }),
    ...(table.allowed_permission_profiles === undefined && table.default_permissions === undefined
      ? {}
      : { profiles: readProfiles(source) }),
    ...(table.rules === undefined ? {} : { rules: { file, text: readRules(table.rules, at("rules")) } }),
    ...(table.experimental_network === undefined ? {} : { network: readNetwork(source) }),
    denyRead,
    pinned: ["audit", "allow_login_shell"]
      // Login shells are only ever taken away.
      .filter((name) => table[name] !== undefined && !(name === "allow_login_shell" && table[name] === true))
      .map((name) => readPinned(name, source, directory))
      .concat(readPinnedProxy(source, directory)),
    ...(table.mcp_servers === undefined ? {} : { mcpServers: readMcpRequirement(source) }),
    ...(table.hooks === undefined ? {} : { hooks: readHookLayer(source, file) }),
    managedHooksOnly: readBoolean(table.allow_managed_hooks_only ?? false, "allow_managed_hooks_only", at),
    allowsModelReview: reviewers === undefined || readReviewers(reviewers, at("allowed_approvals_reviewers")),
    features: { table: { features: readFeatures(table) }, locate },
    unused: Object.keys(table)
      .filter((name) => findRow(REQUIREMENTS_TABLE, [name]) !== "table" && !isUsed(name))
      .map((name) => ({ key: renderKeyPath([name]), origin: at(name) })),
  };
}

const isUsed = (name: string): boolean => {
  const row = findRow(REQUIREMENTS_TABLE, [name]);
  return name === "audit" || (typeof row === "object" && row.here === "supported");
};

/** @throws ConfigError for the first key that restricts and is not supported, or that nobody knows: it may restrict, too */
function refuseUnenforceable({ table, locate }: Source): void {
  const { audit: _, ...rest } = table;
  const { refused, unknown } = findRestrictions(REQUIREMENTS_TABLE, rest);
  const [first] = refused;
  if (first !== undefined) throw createRestrictionError(locate(first.path), first, ONLY_ADMINISTRATOR);
  const [path] = unknown;
  if (path === undefined) return;
  throw createUnknownError(renderKeyPath(path), locate(path));
}

const createUnknownError = (key: string, origin: Origin): ConfigError =>
  new ConfigError(`${describePlace(origin)}: \`${key}\` is not known here and may restrict; ${ONLY_ADMINISTRATOR}`);

const ONLY_ADMINISTRATOR = "only who administers this host can remove it";

/** A key of requirements that is also one of the configuration. */
function readPinned(name: string, { table, locate }: Source, directory: string): Layer {
  const layer = readLayer({ table: { [name]: table[name] }, locate }, directory);
  const [unknown] = layer.unused;
  if (unknown !== undefined) throw createUnknownError(unknown.key, unknown.origin);
  return layer;
}

function readPinnedProxy({ table, locate }: Source, directory: string): Layer[] {
  const { network_proxy: proxy } = readFeatures(table);
  return proxy === undefined ? [] : [readLayer({ table: { features: { network_proxy: proxy } }, locate }, directory)];
}

/** The older file of an administrator. Codex reads it, and what it requires is not enforced here. */
async function refuseManagedConfig(directory: string): Promise<void> {
  const file = join(directory, "managed_config.toml");
  const source = await readSource(file, "requirements");
  const [first] = Object.keys(source?.table ?? {});
  if (source === undefined || first === undefined) return;
  throw new ConfigError(
    `${describePlace(source.locate([first]))}: this file is not supported here, so that what it requires would not hold; requirements.toml in the same directory can require the same`,
  );
}

const readFeatures = ({ features, feature_requirements: older }: TomlTable): TomlTable => ({
  ...(isTable(older) ? older : {}),
  ...(isTable(features) ? features : {}),
});

/** `managed_dir` is where the programs of the hooks are, and what their keys begin with. */
function readHookLayer(source: Source, file: string): HookLayer {
  const { hooks } = source.table;
  const directory = isTable(hooks) ? hooks.managed_dir : undefined;
  const keySource = typeof directory === "string" && directory.startsWith("/") ? directory : file;
  return { file: keySource, directory: undefined, source, isManaged: true, isUsers: false };
}

function readBoolean(value: unknown, name: string, at: (name: string) => Origin): boolean {
  if (typeof value === "boolean") return value;
  throw createValueError(at(name), name, renderValue(value), "true or false");
}

/** @returns whether the list allows a model; a person must be allowed */
function readReviewers(value: unknown, origin: Origin): boolean {
  const parsed = safeParse(z.array(z.enum(["user", "auto_review", "guardian_subagent"])), value);
  if (parsed.success && parsed.data.includes("user")) return parsed.data.length > 1;
  throw createValueError(origin, "allowed_approvals_reviewers", renderValue(value), 'a list with "user"');
}

/** Which hosts every sandboxed command may reach. */
export interface NetworkRequirement {
  /** Commands reach these hosts whatever their sandbox says of the network. */
  readonly enabled: boolean;
  readonly rules: readonly NetworkRule[];
  /** What others allow does not count. */
  readonly isOnly: boolean;
  /** Undefined: as configured. */
  readonly allowLocalBinding: boolean | undefined;
  readonly allowUpstreamProxy: boolean | undefined;
}

const networkSchema = z.object({
  enabled: z.optional(z.boolean()),
  domains: z.optional(z.record(z.string(), z.enum(["allow", "deny", "none"]))),
  review_domains: z.optional(z.array(z.string())),
  managed_allowed_domains_only: z.optional(z.boolean()),
  allow_local_binding: z.optional(z.boolean()),
  allow_upstream_proxy: z.optional(z.boolean()),
});

function readNetwork({ table, locate }: Source): NetworkRequirement {
  const at = "experimental_network";
  const parsed = safeParse(networkSchema, table[at]);
  if (!parsed.success) {
    const path = (parsed.error.issues[0]?.path ?? []).map(String);
    const key = renderKeyPath([at, ...path]);
    throw createValueError(
      locate([at, ...path]),
      key,
      "of the wrong type",
      "true, false, or a table or list of patterns of hosts",
    );
  }
  const { domains = {}, review_domains: reviewed = [], ...given } = parsed.data;
  const rules = [
    ...createNetworkRules(domains, (pattern) => locate([at, "domains", pattern])),
    ...createNetworkRules(Object.fromEntries(reviewed.map((pattern) => [pattern, "ask"])), () =>
      locate([at, "review_domains"]),
    ),
  ];
  return {
    enabled: given.enabled === true,
    rules,
    isOnly: given.managed_allowed_domains_only === true,
    allowLocalBinding: given.allow_local_binding,
    allowUpstreamProxy: given.allow_upstream_proxy,
  };
}

const readPolicies = ({ table, locate }: Source) => {
  const name = "allowed_approval_policies";
  const origin = locate([name]);
  return { allowed: readList(name, approvalPolicySchema, table[name], origin), origin };
};

function readList<T>(name: string, schema: z.ZodMiniType<T>, value: unknown, origin: Origin): T[] {
  const parsed = safeParse(z.array(schema).check(z.minLength(1)), value);
  if (parsed.success) return parsed.data;
  const expected = name === "allowed_sandbox_modes" ? KEYS.sandboxMode.expected : KEYS.approvalPolicy.expected;
  throw createValueError(origin, name, renderValue(value), `a list, not empty, of ${expected}`);
}

/** Which permission profiles may be chosen. */
export interface ProfileRequirement {
  /** Undefined: any. */
  readonly allowed: readonly string[] | undefined;
  /** In place of one that is not allowed, and of none. */
  readonly fallback: string | undefined;
  readonly origin: Origin;
}

function readProfiles({ table, locate }: Source): ProfileRequirement {
  const [names, name] = ["allowed_permission_profiles", "default_permissions"];
  const origin = locate([table[names] === undefined ? name : names]);
  const parsed = safeParse(z.optional(z.record(z.string(), z.boolean())), table[names]);
  if (!parsed.success) {
    throw createValueError(
      origin,
      names,
      renderValue(table[names]),
      "a table of names of permission profiles, each true or false",
    );
  }
  const fallback = table[name];
  if (fallback !== undefined && typeof fallback !== "string") {
    throw createValueError(locate([name]), name, renderValue(fallback), "the name of a permission profile");
  }
  const allowed = parsed.data && Object.entries(parsed.data).flatMap(([each, may]) => (may ? [each] : []));
  if (allowed?.length === 0) {
    throw createValueError(origin, names, renderValue(table[names]), "a table in which one at least is true");
  }
  if (fallback !== undefined && allowed?.includes(fallback) === false) {
    throw createValueError(locate([name]), name, renderValue(fallback), `one that ${names} allows`);
  }
  if (fallback === undefined && ![":read-only", ":workspace"].every((each) => allowed?.includes(each) === true)) {
    throw createValueError(
      origin,
      names,
      renderValue(table[names]),
      `\`${name}\` as well, or both ":read-only" and ":workspace"`,
    );
  }
  return { allowed, fallback, origin };
}

/**
 * `external-sandbox` is a mode of Codex that this project does not have. Full access denies nothing, so that it is not allowed where
 * something has to be denied.
 */
function readModes({ table, locate }: Source, isDenying: boolean): Requirements["sandboxModes"] {
  const name = "allowed_sandbox_modes";
  const value = table[name];
  if (value === undefined) {
    const origin = locate(["permissions", "filesystem", "deny_read"]);
    return isDenying ? { allowed: ["read-only", "workspace-write"], origin } : undefined;
  }
  const origin = locate([name]);
  const wanted = Array.isArray(value) ? value.filter((mode) => mode !== "external-sandbox") : value;
  const allowed = readList(name, sandboxModeSchema, wanted, origin);
  if (!allowed.includes("read-only"))
    throw createValueError(origin, name, renderValue(value), 'a list with "read-only"');
  return { allowed: isDenying ? allowed.filter((mode) => mode !== "danger-full-access") : allowed, origin };
}

function readDenyRead({ table, locate }: Source, directory: string): string[] {
  const fileSystem = isTable(table.permissions) ? table.permissions.filesystem : undefined;
  const patterns = isTable(fileSystem) ? fileSystem.deny_read : undefined;
  if (patterns === undefined) return [];
  const origin = locate(["permissions", "filesystem", "deny_read"]);
  const asSetting = { sandbox_workspace_write: { deny_read: patterns } };
  const [entry] = readLayer({ table: asSetting, locate: () => origin }, directory).entries;
  if (Array.isArray(entry?.value)) return entry.value.map(String);
  throw createValueError(origin, "permissions.filesystem.deny_read", renderValue(patterns), "a list of patterns");
}

const tokenSchema = z.union([z.strictObject({ token: z.string() }), z.strictObject({ any_of: z.array(z.string()) })]);
const rulesSchema = z.strictObject({
  prefix_rules: z
    .array(
      z.strictObject({
        pattern: z.array(tokenSchema).check(z.minLength(1)),
        decision: z.enum(["prompt", "forbidden"]),
        justification: z.optional(z.string()),
        canonical_matching: z.optional(z.boolean()),
      }),
    )
    .check(z.minLength(1)),
});

/** Renders the rules as the text of a rule file, one per line. JSON strings are also strings of that language. */
function readRules(value: unknown, origin: Origin): string {
  const parsed = safeParse(rulesSchema, value);
  if (!parsed.success) {
    const path = parsed.error.issues[0]?.path.map(String).join(".") ?? "";
    const expected = '{ pattern = [{ token = "…" } or { any_of = ["…"] }, …], decision = "prompt" or "forbidden" }';
    throw new ConfigError(`${describePlace(origin)}: \`rules.${path}\` is invalid; expected ${expected}`);
  }
  const lines = parsed.data.prefix_rules.map(({ pattern, decision, justification, canonical_matching: canonical }) => {
    const tokens = JSON.stringify(pattern.map((one) => ("token" in one ? one.token : one.any_of)));
    const why = justification === undefined ? "" : `, justification=${JSON.stringify(justification)}`;
    const how = canonical === undefined ? "" : `, canonical_matching=${canonical ? "True" : "False"}`;
    return `prefix_rule(pattern=${tokens}, decision="${decision}"${why}${how})`;
  });
  return `${lines.join("\n")}\n`;
}
