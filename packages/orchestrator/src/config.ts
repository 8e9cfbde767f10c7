import type { EnvPolicy, ResourceLimits, WhenFull } from "@codex/executor-protocol";
import { OrchestratorError } from "./errors.js";
import { FORCED_ENVIRONMENT } from "./forced-environment.js";
import type { OrchestratorLimits, OrchestratorTimings, WindowBounds } from "./limits.js";
import {
  DEFAULT_MAX_OUTPUT_TOKENS,
  DEFAULT_MAX_OUTPUT_TOKENS_CAP,
  DEFAULT_ORCHESTRATOR_LIMITS,
  DEFAULT_ORCHESTRATOR_TIMINGS,
  DEFAULT_WINDOW_BOUNDS,
} from "./limits.js";

/** Options for resolving calls. Each has a default. */
export interface OrchestratorDefaults {
  /** Absolute directory of calls that specify none; default the executor's own. */
  cwd?: string;
  /** Shell of calls that specify none: a name or a path; default the one that the executor's host reports, else `/bin/sh`. */
  shell?: string;
  /** Whether calls that do not specify it use a login shell; default true where allowed. */
  login?: boolean;
  /** False: a call that requests a login shell is an error. */
  allowLogin?: boolean;
  /** Executors may start login shells from a snapshot of the state that their startup files set up; default false. */
  shellSnapshot?: boolean;
  /** Default budget of a result, tokens of 4 bytes. */
  maxOutputTokens?: number;
  /** Largest budget of a result, tokens of 4 bytes. */
  maxOutputTokensCap?: number;
  windows?: Partial<WindowBounds>;
  /** How the executor derives the environment of a command from its own; the default excludes are on. */
  envPolicy?: Partial<EnvPolicy>;
  /** What happens when a session has more output than its executor retains in memory; default the executor's own. */
  whenFull?: WhenFull;
  /** What each command may use, with all that it starts; a call can ask for less. Commands are refused where an executor cannot hold it. */
  resourceLimits?: ResourceLimits;
  /** Names of variables of `FORCED_ENVIRONMENT` that are not set. */
  dropForced?: readonly string[];
  /** Environment for executors that support only the base messages: theirs is unknown. */
  baseEnv?: Readonly<Record<string, string>>;
  /** Allow the model to request `with_additional_permissions`. */
  allowAdditionalPermissions?: boolean;
  limits?: Partial<OrchestratorLimits>;
  timings?: Partial<OrchestratorTimings>;
}

/** The same with every default filled in and checked. */
export interface Config {
  cwd: string | undefined;
  shell: string | undefined;
  login: boolean;
  allowLogin: boolean;
  shellSnapshot: boolean;
  maxOutputTokens: number;
  maxOutputTokensCap: number;
  windows: WindowBounds;
  envPolicy: EnvPolicy;
  whenFull: WhenFull | undefined;
  resourceLimits: ResourceLimits;
  forcedEnv: Record<string, string>;
  baseEnv: Readonly<Record<string, string>>;
  allowAdditionalPermissions: boolean;
  /** Names of the permission profiles that a model may ask for. */
  permissionProfiles: readonly string[];
  limits: OrchestratorLimits;
  timings: OrchestratorTimings;
}

/** @throws OrchestratorError `bad_option` naming the option. */
export function resolveConfig(defaults: OrchestratorDefaults = {}, permissionProfiles: readonly string[] = []): Config {
  const allowLogin = defaults.allowLogin ?? true;
  const maxOutputTokensCap = defaults.maxOutputTokensCap ?? DEFAULT_MAX_OUTPUT_TOKENS_CAP;
  const config: Config = {
    cwd: defaults.cwd,
    shell: defaults.shell,
    login: defaults.login ?? allowLogin,
    allowLogin,
    shellSnapshot: defaults.shellSnapshot ?? false,
    maxOutputTokens: defaults.maxOutputTokens ?? Math.min(DEFAULT_MAX_OUTPUT_TOKENS, maxOutputTokensCap),
    maxOutputTokensCap,
    windows: { ...DEFAULT_WINDOW_BOUNDS, ...defaults.windows },
    envPolicy: { ...DEFAULT_ENV_POLICY, ...defaults.envPolicy },
    whenFull: defaults.whenFull,
    resourceLimits: defaults.resourceLimits ?? {},
    forcedEnv: dropNames(FORCED_ENVIRONMENT, defaults.dropForced ?? []),
    baseEnv: defaults.baseEnv ?? DEFAULT_BASE_ENV,
    allowAdditionalPermissions: defaults.allowAdditionalPermissions ?? false,
    permissionProfiles,
    limits: { ...DEFAULT_ORCHESTRATOR_LIMITS, ...defaults.limits },
    timings: { ...DEFAULT_ORCHESTRATOR_TIMINGS, ...defaults.timings },
  };
  validateConfig(config);
  return config;
}

const DEFAULT_ENV_POLICY: EnvPolicy = {
  inherit: "all",
  ignoreDefaultExcludes: false,
  exclude: [],
  set: {},
  includeOnly: [],
};

const DEFAULT_BASE_ENV = { PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" };

function dropNames(env: Readonly<Record<string, string>>, names: readonly string[]): Record<string, string> {
  const known = Object.keys(env);
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined) throw bad(`dropForced names \`${unknown}\`; forced variables are ${known.join(", ")}`);
  return Object.fromEntries(Object.entries(env).filter(([name]) => !names.includes(name)));
}

function validateConfig(config: Config): void {
  const { windows } = config;
  checkCounts("limits", config.limits, 1);
  checkCounts("timings", config.timings, 0);
  checkCounts("windows", windows, 0);
  checkCounts(
    "defaults",
    { maxOutputTokens: config.maxOutputTokens, maxOutputTokensCap: config.maxOutputTokensCap },
    0,
  );
  checkOrder("exec", windows.execMinMs, windows.execMaxMs);
  checkOrder("write", windows.writeMinMs, windows.writeMaxMs);
  checkOrder("poll", windows.pollMinMs, windows.pollMaxMs);
  if (config.maxOutputTokens > config.maxOutputTokensCap) {
    const values = `${config.maxOutputTokens} tokens is above maxOutputTokensCap ${config.maxOutputTokensCap} tokens`;
    throw bad(`maxOutputTokens ${values}`);
  }
  if (config.login && !config.allowLogin) throw bad("login is true while allowLogin is false");
}

function checkCounts(group: string, values: object, minimum: number): void {
  for (const [name, value] of Object.entries(values)) {
    if (Number.isSafeInteger(value) && value >= minimum) continue;
    throw bad(`${group}.${name} is ${String(value)}; expected an integer of at least ${minimum}`);
  }
}

function checkOrder(name: string, min: number, max: number): void {
  if (min > max) throw bad(`windows.${name}MinMs ${min} ms is above windows.${name}MaxMs ${max} ms`);
}

const bad = (message: string) => new OrchestratorError("bad_option", message);
