import type { NetworkRoute, SandboxMode } from "@codex/executor-protocol";
import { compileNetworkPolicy, compileRoute, evaluateTarget } from "@codex/network-policy";
import type { OrchestratorDefaults } from "@codex/orchestrator";
import {
  type ApprovalPolicy,
  type NetworkOptions,
  type SandboxSettings,
  type WhenUnavailable,
  withoutWrites,
} from "@codex/policy";
import { defined } from "@codex/values";
import { ConfigError } from "./config-error.js";
import { KEYS, type Key } from "./keys.js";
import type { Entry } from "./layer.js";
import { createNetworkRules } from "./network-domains.js";
import { createNetworkRoutes } from "./network-routes.js";
import { describePlace, type Origin } from "./origin.js";
import { type ResolvedProfile, resolveProfile } from "./permission-profiles.js";
import type { NetworkRequirement, Requirements } from "./requirements.js";
import type { ConfiguredApproval } from "./tighten.js";

/** Effective values after all layers, by the name of the key. */
export type Values = ReadonlyMap<string, Omit<Entry, "key">>;

/** The value of a key; every value in the map has passed the key's schema. */
export const readSetting = <T>(values: Values, key: Key<T>): T => {
  const found = values.get(key.name);
  return found === undefined ? key.fallback : (found.value as T);
};

/** The effective settings, typed. */
export interface Settings {
  approvalPolicy: ApprovalPolicy;
  sandbox: SandboxSettings;
  /** Which hosts commands reach; undefined where the sandbox alone says whether they have a network. */
  network: NetworkOptions | undefined;
  /** Defaults for resolving calls: environment policy, shell, output budgets, yield windows. */
  defaults: OrchestratorDefaults;
  audit: {
    enabled: boolean;
    path: string;
    required: boolean;
    includeArgv: boolean;
    sync: boolean;
    maxBytes: number;
  };
}

/**
 * @param requirements what the administrator allows
 * @param isNamed whether `default_permissions` chose, so that `[sandbox_workspace_write]` counts only for what is denied
 */
export function createSettings(
  values: Values,
  requirements?: Pick<Requirements, "sandboxModes" | "network" | "denyRead">,
  isNamed = false,
): Settings {
  const get = <T>(key: Key<T>): T => readSetting(values, key);
  const profile = findProfile(values);
  if (
    profile?.writesEverything === true &&
    requirements?.sandboxModes?.allowed?.includes("danger-full-access") === false
  ) {
    throw new ConfigError(`permissions.${profile.name}: requirements.toml does not allow what writes everything`);
  }
  const isOfMode = profile === undefined && !isNamed;
  return {
    approvalPolicy: toApprovalPolicy(get(KEYS.approvalPolicy)),
    sandbox: {
      ...chooseMode(values, profile),
      writableRoots: isOfMode ? get(KEYS.writableRoots) : [],
      networkAccess: findNetworkSetting(profile, "enabled") ?? (isOfMode && get(KEYS.networkAccess)),
      excludeTmpdirEnvVar: isOfMode && get(KEYS.excludeTmpdir),
      excludeSlashTmp: isOfMode && get(KEYS.excludeSlashTmp),
      allowGitCommit: get(KEYS.allowGitCommit),
      denyRead: get(KEYS.denyRead),
      ...(requirements === undefined || requirements.denyRead.length === 0
        ? {}
        : { requiredDenyRead: requirements.denyRead }),
      whenUnavailable: chooseWhenUnavailable(values, requirements?.sandboxModes?.allowed),
    },
    network: createNetwork(values, requirements?.network, profile),
    defaults: createDefaults(get),
    audit: {
      enabled: get(KEYS.auditEnabled),
      path: get(KEYS.auditPath),
      required: get(KEYS.auditRequired),
      includeArgv: get(KEYS.auditIncludeArgv),
      sync: get(KEYS.auditSync),
      maxBytes: get(KEYS.auditMaxBytes),
    },
  };
}

function toApprovalPolicy(configured: ConfiguredApproval): ApprovalPolicy {
  if (typeof configured === "string") return configured;
  const { sandbox_approval: sandboxApproval, rules } = configured.granular;
  return { granular: { sandboxApproval, rules } };
}

/** Without a sandbox, commands are refused if a mode was configured or is required; if the mode is a default, the user is asked. */
function chooseWhenUnavailable(values: Values, allowedModes: readonly SandboxMode[] | undefined): WhenUnavailable {
  const origin = values.get(KEYS.sandboxMode.name)?.origin.kind ?? "default";
  return origin === "default" && (allowedModes?.includes("danger-full-access") ?? true) ? "ask" : "refuse";
}

const DEFAULT: Origin = { kind: "default" };

/** The profile that commands have; undefined for a sandbox mode. @throws ConfigError for one that is none */
export function findProfile(values: Values): ResolvedProfile | undefined {
  const named = values.get(KEYS.defaultPermissions.name);
  if (named === undefined) return undefined;
  const origins = values.get(KEYS.permissions.name)?.origins;
  const locate = (name: string) => origins?.[name] ?? DEFAULT;
  return resolveProfile(named.value as string, readSetting(values, KEYS.permissions), { origin: named.origin, locate });
}

/** A project may have restricted the mode that a profile amounts to. */
function chooseMode(values: Values, profile: ResolvedProfile | undefined): Pick<SandboxSettings, "mode" | "profile"> {
  const mode = values.get(KEYS.sandboxMode.name)?.value as SandboxMode | undefined;
  if (profile === undefined) return { mode: mode ?? KEYS.sandboxMode.fallback };
  const { name, base, entries, globScanMaxDepth } = profile;
  const own = { name, base, entries, ...(globScanMaxDepth === undefined ? {} : { globScanMaxDepth }) };
  if (mode === "read-only" && profile.mode !== "read-only") return { mode, profile: withoutWrites(own) };
  return { mode: profile.mode, profile: own };
}

/** What a profile, or the nearest that it extends, says about its network. */
const findNetworkSetting = <Name extends keyof ResolvedProfile["networks"][number]["network"]>(
  profile: ResolvedProfile | undefined,
  name: Name,
): ResolvedProfile["networks"][number]["network"][Name] | undefined =>
  profile?.networks.map(({ network }) => network[name]).find((value) => value !== undefined);

function createNetwork(
  values: Values,
  required: NetworkRequirement | undefined,
  profile: ResolvedProfile | undefined,
): NetworkOptions | undefined {
  const get = <T>(key: Key<T>): T => readSetting(values, key);
  const isRequired = required?.enabled === true;
  const routes = createRoutes(values);
  // In Codex, domains of a profile do nothing without the feature; here they are held.
  const isOfProfile =
    findNetworkSetting(profile, "domains") !== undefined || findNetworkSetting(profile, "mode") === "limited";
  if (!get(KEYS.networkProxy) && !isRequired && !isOfProfile) {
    const [route] = routes;
    if (route === undefined) return undefined;
    const place = describePlace(values.get(KEYS.networkRoutes.name)?.origins?.[route.name] ?? DEFAULT);
    throw new ConfigError(`${place}: network_routes.${route.name}: routes need ${KEYS.networkProxy.name} = true`);
  }
  const { origins = {}, origin = DEFAULT } = values.get(KEYS.networkDomains.name) ?? {};
  if (required?.isOnly === true) checkRoutesAllowed(routes, required.rules);
  const placeOf = (name: string) => values.get(KEYS.permissions.name)?.origins?.[name] ?? DEFAULT;
  // The nearest profile decides about a pattern.
  const ofProfile = (profile?.networks ?? []).flatMap(({ name, network }, index, all) => {
    const nearer = new Set(all.slice(0, index).flatMap((each) => Object.keys(each.network.domains ?? {})));
    const domains = Object.entries(network.domains ?? {}).filter(([pattern]) => !nearer.has(pattern));
    return createNetworkRules(Object.fromEntries(domains), () => placeOf(name));
  });
  const own = [...createNetworkRules(get(KEYS.networkDomains), (pattern) => origins[pattern] ?? origin), ...ofProfile];
  const counted = required?.isOnly === true ? own.filter(({ decision }) => decision !== "allow") : own;
  return {
    rules: [...counted, ...(required?.rules ?? [])],
    mode: findNetworkSetting(profile, "mode") === "limited" ? "limited" : get(KEYS.networkMode),
    allowLocalBinding:
      required?.allowLocalBinding ??
      findNetworkSetting(profile, "allow_local_binding") ??
      get(KEYS.networkLocalBinding),
    allowUpstreamProxy:
      required?.allowUpstreamProxy ??
      findNetworkSetting(profile, "allow_upstream_proxy") ??
      get(KEYS.networkUpstreamProxy),
    ...(routes.length === 0 ? {} : { routes }),
    ...(required?.isOnly === true ? { isComplete: true } : {}),
    ...(isRequired ? { opensSandbox: true } : {}),
  };
}

/** @throws ConfigError for a route to a host that the administrator's list does not have, where that is complete */
function checkRoutesAllowed(routes: readonly NetworkRoute[], rules: NetworkRequirement["rules"]): void {
  const policy = compileNetworkPolicy({ rules, mode: "full", allowLocalBinding: false });
  for (const { name, url } of routes) {
    const { host, port } = compileRoute({ name, url }, () => policy);
    if (evaluateTarget(policy, { host, port, via: { protocol: "connect" } }).decision === "allow") continue;
    throw new ConfigError(`network_routes.${name}: requirements.toml does not allow ${host.text}:${port}`);
  }
}

function createRoutes(values: Values): NetworkRoute[] {
  const { origins = {}, origin = DEFAULT } = values.get(KEYS.networkRoutes.name) ?? {};
  return createNetworkRoutes(readSetting(values, KEYS.networkRoutes), (name) => origins[name] ?? origin);
}

function createDefaults(get: <T>(key: Key<T>) => T): OrchestratorDefaults {
  const filters = Object.entries(get(KEYS.filters));
  const patterns = (action: "include" | "exclude") => filters.filter((one) => one[1] === action).map(([name]) => name);
  const pollMaxMs = get(KEYS.backgroundTerminalMaxTimeout);
  return {
    allowLogin: get(KEYS.allowLoginShell),
    shellSnapshot: get(KEYS.shellSnapshot),
    maxOutputTokensCap: get(KEYS.toolOutputTokenLimit),
    windows: { pollMaxMs, pollMinMs: Math.min(5_000, pollMaxMs) },
    resourceLimits: defined({
      memory: get(KEYS.limitMemory),
      cpus: get(KEYS.limitCpus),
      processes: get(KEYS.limitProcesses),
      openFiles: get(KEYS.limitOpenFiles),
      disk: get(KEYS.limitDisk),
      time: get(KEYS.limitTime),
    }),
    envPolicy: {
      inherit: get(KEYS.inherit),
      ignoreDefaultExcludes: get(KEYS.ignoreDefaultExcludes),
      exclude: [...get(KEYS.exclude), ...patterns("exclude")],
      includeOnly: [...get(KEYS.includeOnly), ...patterns("include")],
      set: get(KEYS.setVariables),
    },
  };
}
