import type { ResourceLimits } from "@codex/executor-protocol";
/** The validated configuration of environments. */
export interface EnvironmentsConfig {
  /** In configuration order, without `local`. */
  readonly environments: readonly ConfiguredEnvironment[];
  /** Whether this host is the environment `local`. */
  readonly includeLocal: boolean;
  /** Id of the default; undefined if environments are disabled. */
  readonly default: string | undefined;
  /** The source that determined the environments: a file, an environment variable, or none. */
  readonly source: ConfigSource;
}

/** The source that determined the environments. */
export type ConfigSource =
  | { kind: "file"; file: string }
  | { kind: "variable"; name: string }
  /** Nothing is configured: `local` is the only environment. */
  | { kind: "none" };

/** One configured environment, by how it is reached. */
export type ConfiguredEnvironment = ConfiguredWebSocket | ConfiguredCommand | ConfiguredSsh | ConfiguredNoise;

interface Common {
  readonly id: string;
  /** Where it is configured: `FILE:LINE`, or the name of a variable. */
  readonly place: string;
  /** Time limit for the handshake response, milliseconds. */
  readonly initializeTimeoutMs: number;
  /** Names of skills that it must have. */
  readonly requiredSkills: readonly string[];
  /** Id of the environment to use if this one cannot be connected. */
  readonly fallback?: string;
  /** The permission profile of commands there, unless the person chooses another, and where it is written. */
  readonly permissionProfile?: { readonly name: string; readonly file: string; readonly line?: number };
  /** What each command there may use. */
  readonly limits?: ResourceLimits;
  /** Whether to connect it before its first use. */
  readonly eager?: boolean;
}

/** An environment at a websocket address. */
export interface ConfiguredWebSocket extends Common {
  readonly kind: "websocket";
  readonly url: string;
  /** Where the bearer token comes from; it is sent unchanged. */
  readonly token?: TokenSource;
  /** Absolute path of a file with additional trusted certificates (PEM). */
  readonly caFile?: string;
  readonly connectTimeoutMs: number;
}

/** Where a bearer token comes from. Files and variables are read for each connection. */
export type TokenSource =
  | { kind: "literal"; token: string }
  /** Absolute path. */
  | { kind: "file"; file: string }
  | { kind: "variable"; name: string };

/** A program that communicates over its stdin and stdout. */
export interface ConfiguredCommand extends Common {
  readonly kind: "command";
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Absolute; undefined for the directory with the configuration. */
  readonly cwd: string;
  /** Names of variables of this process that it inherits in addition. */
  readonly envInherit: readonly string[];
}

/** A host reached with the system's `ssh`. */
export interface ConfiguredSsh extends Common {
  readonly kind: "ssh";
  /** `ssh://[USER@]HOST[:PORT][/DIRECTORY]`. */
  readonly url: string;
  readonly connectTimeoutMs: number;
}

/** An environment behind a registry and a rendezvous. */
export interface ConfiguredNoise extends Common {
  readonly kind: "noise";
  readonly registryUrl: string;
  readonly environmentId: string;
  /** Source of the bearer token for the registry. */
  readonly token?: TokenSource;
  /** Labels that the executor must have. With an empty `environmentId`, an executor of any environment. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Absolute path of a file with additional trusted certificates (PEM). */
  readonly caFile?: string;
  readonly chatgptAccountId?: string;
}

/** Ids of the environments of a new conversation, the default first; empty if environments are disabled. */
export function listIds({ environments, includeLocal, default: first }: EnvironmentsConfig): string[] {
  if (first === undefined) return [];
  const ids = [...(includeLocal ? ["local"] : []), ...environments.map(({ id }) => id)];
  return [first, ...ids.filter((id) => id !== first)];
}
