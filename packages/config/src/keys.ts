import { DEFAULT_DENY_READ } from "@codex/policy";
import { defined, parseByteSize } from "@codex/values";
import * as z from "zod/mini";
import { type ConfiguredRoutes, configuredRouteSchema } from "./network-routes.js";
import { type ConfiguredProfiles, configuredProfileSchema } from "./permission-profiles.js";
import {
  type ConfiguredApproval,
  denyHosts,
  denyMore,
  intersectPatterns,
  narrowApproval,
  narrowInherit,
  narrowSandboxMode,
  onlyFalse,
  onlyTrue,
  rootsWithin,
  unite,
} from "./tighten.js";

/** A setting: its schema and its default. Its name is a dotted key of `config.toml`. */
export interface Key<T> {
  readonly name: string;
  readonly schema: z.ZodMiniType<T>;
  /** For messages: `expected …`. */
  readonly expected: string;
  readonly fallback: T;
  /** Later layers are merged into a table entry by entry instead of replacing it. */
  readonly merges?: boolean;
  /** Its values may be secrets and are not shown. */
  readonly secret?: boolean;
  /** Its strings are paths, relative to the directory of the file. `~/` is the home on this host (`own`) or the executor's host. */
  readonly paths?: "own" | "executor";
  /**
   * Combines `base`, the effective value, with the value of a trusted project, so that the result permits no more than `base`.
   * Without this function a project cannot set the key.
   */
  tighten?(base: T, requested: T, project: string): T;
}

const strings = z.array(z.string());
const texts = z.record(z.string(), z.string());
const flag = (name: string, fallback: boolean, tighten?: Key<boolean>["tighten"]): Key<boolean> => ({
  name,
  schema: z.boolean(),
  expected: "true or false",
  fallback,
  ...defined({ tighten }),
});
const count = (name: string, expected: string, fallback: number, project = false): Key<number> => ({
  name,
  schema: z.int().check(z.positive()),
  expected,
  fallback,
  ...(project ? { tighten: (_base: number, requested: number) => requested } : {}),
});

const POLICIES = ["untrusted", "on-request", "on-failure", "never"] as const;
export const approvalPolicySchema = z.union([
  z.enum(POLICIES),
  z.strictObject({
    granular: z.object({ sandbox_approval: z.boolean(), rules: z.boolean() }),
  }),
]);
export const sandboxModeSchema = z.enum(["read-only", "workspace-write", "danger-full-access"]);

const approvalPolicy: Key<ConfiguredApproval> = {
  name: "approval_policy",
  schema: approvalPolicySchema,
  expected: `${POLICIES.map((name) => JSON.stringify(name)).join(", ")} or { granular = { sandbox_approval = …, rules = … } }`,
  fallback: "on-request",
  tighten: narrowApproval,
};
const sandboxMode: Key<z.infer<typeof sandboxModeSchema>> = {
  name: "sandbox_mode",
  schema: sandboxModeSchema,
  expected: '"read-only", "workspace-write" or "danger-full-access"',
  fallback: "read-only",
  tighten: narrowSandboxMode,
};
const writableRoots: Key<string[]> = {
  name: "sandbox_workspace_write.writable_roots",
  schema: strings,
  expected: "a list of directories",
  fallback: [],
  paths: "own",
  tighten: rootsWithin,
};
const denyRead: Key<string[]> = {
  name: "sandbox_workspace_write.deny_read",
  schema: strings,
  expected: "a list of patterns of files",
  fallback: [...DEFAULT_DENY_READ],
  paths: "executor",
  tighten: denyMore,
};
const inherit: Key<"all" | "core" | "none"> = {
  name: "shell_environment_policy.inherit",
  schema: z.enum(["all", "core", "none"]),
  expected: '"all", "core" or "none"',
  fallback: "all",
  tighten: narrowInherit,
};
const patterns = (name: string, tighten: Key<string[]>["tighten"]): Key<string[]> => ({
  name,
  schema: strings,
  expected: "a list of patterns of names, with * and ?",
  fallback: [],
  ...defined({ tighten }),
});
const setVariables: Key<Record<string, string>> = {
  name: "shell_environment_policy.set",
  schema: texts,
  expected: "a table of strings",
  fallback: {},
  merges: true,
  secret: true,
};
const filters: Key<Record<string, "include" | "exclude">> = {
  name: "shell_environment_policy.filters",
  schema: z.record(z.string(), z.enum(["include", "exclude"])),
  expected: 'a table of patterns, each "include" or "exclude"',
  fallback: {},
  merges: true,
};
const projects: Key<Record<string, { trust_level?: "trusted" | "untrusted" | undefined }>> = {
  name: "projects",
  schema: z.record(z.string(), z.object({ trust_level: z.optional(z.enum(["trusted", "untrusted"])) })),
  expected: 'a table of directories, each with trust_level = "trusted" or "untrusted"',
  fallback: {},
  merges: true,
};
const projectRootMarkers: Key<string[]> = {
  name: "project_root_markers",
  schema: strings,
  expected: "a list of names of files",
  fallback: [".git"],
};
const NETWORK = "features.network_proxy";
const networkDomains: Key<Record<string, "allow" | "deny" | "none">> = {
  name: `${NETWORK}.domains`,
  schema: z.record(z.string(), z.enum(["allow", "deny", "none"])),
  expected: 'a table of patterns of hosts, each "allow", "deny" or "none"',
  fallback: {},
  merges: true,
  tighten: denyHosts,
};
const networkMode: Key<"full" | "limited"> = {
  name: `${NETWORK}.mode`,
  schema: z.enum(["full", "limited"]),
  expected: "full or limited",
  fallback: "full",
  tighten: (base, requested) => (requested === "limited" ? requested : base),
};
const permissions: Key<ConfiguredProfiles> = {
  name: "permissions",
  schema: z.record(z.string().check(z.regex(/^[^:]/)), configuredProfileSchema),
  expected:
    'a table of profiles whose names do not begin with ":", each with extends, description, filesystem (paths, each "read", "write" or "deny") and network (enabled, mode, domains, …)',
  fallback: {},
  merges: true,
};
/** The name of a profile of `permissions`; those that are built in are sandbox modes. */
const defaultPermissions: Key<string> = {
  name: "default_permissions",
  schema: z.string(),
  expected: "the name of a permission profile",
  fallback: "",
};
const networkRoutes: Key<ConfiguredRoutes> = {
  name: "network_routes",
  schema: z.record(z.string(), configuredRouteSchema),
  expected:
    "a table of routes, each with url, secret = { variable, file or command }, and header, scheme, user, paths, ca_file, tools",
  fallback: {},
  merges: true,
  secret: true,
};
const auditPath: Key<string> = {
  name: "audit.path",
  schema: z.string().check(z.minLength(1)),
  expected: "a file",
  fallback: "audit.jsonl",
  paths: "own",
};

/** Bytes, as a number or such as "512M" or "1.5G". */
const size = (name: string): Key<number | undefined> => ({
  name,
  schema: z.union([
    z.int().check(z.positive()),
    z.pipe(z.string().check(z.refine((text) => parseByteSize(text) !== undefined)), z.transform(parseByteSize)),
  ]),
  expected: 'a size of at least 1 byte, such as "512M" or "2G"',
  fallback: undefined,
  tighten: least,
});
const limit = (name: string, schema: z.ZodMiniType<number>, expected: string): Key<number | undefined> => ({
  name,
  schema,
  expected,
  fallback: undefined,
  tighten: least,
});
const least = (base: number | undefined, requested: number | undefined): number | undefined =>
  base === undefined || requested === undefined ? (base ?? requested) : Math.min(base, requested);
const atLeast1 = z.int().check(z.positive());

/** Every setting that this project uses. */
export const KEYS = {
  approvalPolicy,
  sandboxMode,
  writableRoots,
  networkAccess: flag("sandbox_workspace_write.network_access", false, onlyFalse),
  excludeTmpdir: flag("sandbox_workspace_write.exclude_tmpdir_env_var", false, onlyTrue),
  excludeSlashTmp: flag("sandbox_workspace_write.exclude_slash_tmp", false, onlyTrue),
  allowGitCommit: flag("sandbox_workspace_write.allow_git_commit", false, onlyFalse),
  denyRead,
  inherit,
  ignoreDefaultExcludes: flag("shell_environment_policy.ignore_default_excludes", false, onlyFalse),
  exclude: patterns("shell_environment_policy.exclude", unite),
  includeOnly: patterns("shell_environment_policy.include_only", intersectPatterns),
  filters,
  setVariables,
  allowLoginShell: flag("allow_login_shell", true, onlyFalse),
  shellSnapshot: flag("features.shell_snapshot", false),
  toolOutputTokenLimit: count("tool_output_token_limit", "a number of tokens of at least 1", 50_000, true),
  backgroundTerminalMaxTimeout: count(
    "background_terminal_max_timeout",
    "a number of milliseconds of at least 1",
    300_000,
    true,
  ),
  projectRootMarkers,
  projects,
  networkProxy: flag(`${NETWORK}.enabled`, false, onlyTrue),
  networkDomains,
  networkMode,
  networkLocalBinding: flag(`${NETWORK}.allow_local_binding`, false, onlyFalse),
  networkUpstreamProxy: flag(`${NETWORK}.allow_upstream_proxy`, true, onlyFalse),
  networkRoutes,
  permissions,
  defaultPermissions,
  limitMemory: size("limits.memory"),
  limitCpus: limit("limits.cpus", z.number().check(z.positive()), "a number of processors above 0"),
  limitProcesses: limit("limits.processes", atLeast1, "a number of processes of at least 1"),
  limitOpenFiles: limit("limits.open_files", atLeast1, "a number of files of at least 1"),
  limitDisk: size("limits.disk"),
  limitTime: limit("limits.time", atLeast1, "a number of seconds of at least 1"),
  auditEnabled: flag("audit.enabled", false),
  auditPath,
  auditRequired: flag("audit.required", false),
  auditIncludeArgv: flag("audit.include_argv", false),
  auditSync: flag("audit.sync", false),
  auditMaxBytes: count("audit.max_bytes", "a number of bytes of at least 1", 64 * 1024 * 1024),
} as const;

/** The settings by their names in the file. */
export const KEY_BY_NAME: ReadonlyMap<string, Key<unknown>> = new Map(
  Object.values(KEYS).map((key) => [key.name, key as Key<unknown>]),
);
