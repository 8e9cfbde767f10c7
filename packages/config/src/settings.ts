import type { NetworkRoute, SandboxMode } from "@codex/executor-protocol";
import { compileNetworkPolicy, compileRoute, evaluateTarget } from "@codex/network-policy";
import type { OrchestratorDefaults } from "@codex/orchestrator";
import type { ApprovalPolicy, NetworkOptions, SandboxSettings, WhenUnavailable } from "@codex/policy";
import { ConfigError } from "./config-error.js";
import { KEYS, type Key } from "./keys.js";
import type { Entry } from "./layer.js";
import { createNetworkRules } from "./network-domains.js";
import { createNetworkRoutes } from "./network-routes.js";
import { describePlace, type Origin } from "./origin.js";
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

/** @param requirements what the administrator allows */
export function createSettings(
  values: Values,
  requirements?: Pick<Requirements, "sandboxModes" | "network">,
): Settings {
  const get = <T>(key: Key<T>): T => readSetting(values, key);
  return {
    approvalPolicy: toApprovalPolicy(get(KEYS.approvalPolicy)),
    sandbox: {
      mode: get(KEYS.sandboxMode),
      writableRoots: get(KEYS.writableRoots),
      networkAccess: get(KEYS.networkAccess),
      excludeTmpdirEnvVar: get(KEYS.excludeTmpdir),
      excludeSlashTmp: get(KEYS.excludeSlashTmp),
      allowGitCommit: get(KEYS.allowGitCommit),
      denyRead: get(KEYS.denyRead),
      whenUnavailable: chooseWhenUnavailable(values, requirements?.sandboxModes?.allowed),
    },
    network: createNetwork(values, requirements?.network),
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

function createNetwork(values: Values, required: NetworkRequirement | undefined): NetworkOptions | undefined {
  const get = <T>(key: Key<T>): T => readSetting(values, key);
  const isRequired = required?.enabled === true;
  const routes = createRoutes(values);
  if (!get(KEYS.networkProxy) && !isRequired) {
    const [route] = routes;
    if (route === undefined) return undefined;
    const place = describePlace(values.get(KEYS.networkRoutes.name)?.origins?.[route.name] ?? DEFAULT);
    throw new ConfigError(`${place}: network_routes.${route.name}: routes need ${KEYS.networkProxy.name} = true`);
  }
  const { origins = {}, origin = DEFAULT } = values.get(KEYS.networkDomains.name) ?? {};
  if (required?.isOnly === true) checkRoutesAllowed(routes, required.rules);
  const own = createNetworkRules(get(KEYS.networkDomains), (pattern) => origins[pattern] ?? origin);
  const counted = required?.isOnly === true ? own.filter(({ decision }) => decision !== "allow") : own;
  return {
    rules: [...counted, ...(required?.rules ?? [])],
    mode: get(KEYS.networkMode),
    allowLocalBinding: required?.allowLocalBinding ?? get(KEYS.networkLocalBinding),
    allowUpstreamProxy: required?.allowUpstreamProxy ?? get(KEYS.networkUpstreamProxy),
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
    envPolicy: {
      inherit: get(KEYS.inherit),
      ignoreDefaultExcludes: get(KEYS.ignoreDefaultExcludes),
      exclude: [...get(KEYS.exclude), ...patterns("exclude")],
      includeOnly: [...get(KEYS.includeOnly), ...patterns("include")],
      set: get(KEYS.setVariables),
    },
  };
}
