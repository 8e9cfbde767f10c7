import type { ApprovalPolicy, OrchestratorDefaults } from "@codex/orchestrator";
import { KEYS, type Key } from "./keys.js";
import type { Origin } from "./origin.js";

/** What counts, by the name of the key, after all layers. */
export type Values = ReadonlyMap<string, { value: unknown; origin: Origin }>;

/** The value of a key; every value in the map has passed the key's schema. */
export const readSetting = <T>(values: Values, key: Key<T>): T => {
  const found = values.get(key.name);
  return found === undefined ? key.fallback : (found.value as T);
};

/** The same, typed, for those who use it. */
export interface Settings {
  approvalPolicy: ApprovalPolicy;
  sandboxMode: "read-only" | "workspace-write" | "danger-full-access";
  workspaceWrite: {
    writableRoots: string[];
    networkAccess: boolean;
    excludeTmpdirEnvVar: boolean;
    excludeSlashTmp: boolean;
    allowGitCommit: boolean;
    denyRead: string[];
  };
  /** How calls are resolved: environment, shell, budgets, windows. */
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

export function createSettings(values: Values): Settings {
  const get = <T>(key: Key<T>): T => readSetting(values, key);
  return {
    approvalPolicy: get(KEYS.approvalPolicy),
    sandboxMode: get(KEYS.sandboxMode),
    workspaceWrite: {
      writableRoots: get(KEYS.writableRoots),
      networkAccess: get(KEYS.networkAccess),
      excludeTmpdirEnvVar: get(KEYS.excludeTmpdir),
      excludeSlashTmp: get(KEYS.excludeSlashTmp),
      allowGitCommit: get(KEYS.allowGitCommit),
      denyRead: get(KEYS.denyRead),
    },
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

function createDefaults(get: <T>(key: Key<T>) => T): OrchestratorDefaults {
  const filters = Object.entries(get(KEYS.filters));
  const patterns = (action: "include" | "exclude") => filters.filter((one) => one[1] === action).map(([name]) => name);
  const pollMaxMs = get(KEYS.backgroundTerminalMaxTimeout);
  return {
    allowLogin: get(KEYS.allowLoginShell),
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
