/** What configuration says of environments, checked. */
export interface EnvironmentsConfig {
  /** In the order of configuration, without `local`. */
  readonly environments: readonly ConfiguredEnvironment[];
  /** Whether this host is the environment `local`. */
  readonly includeLocal: boolean;
  /** Id of the default; undefined where environments are disabled. */
  readonly default: string | undefined;
  /** What decided: a file, a variable of the environment of this process, or nothing at all. */
  readonly source: ConfigSource;
}

/** What decided which environments there are. */
export type ConfigSource =
  | { kind: "file"; file: string }
  | { kind: "variable"; name: string }
  /** Nothing is configured: `local` is the only one. */
  | { kind: "none" };

/** One configured environment, by how it is reached. */
export type ConfiguredEnvironment = ConfiguredWebSocket | ConfiguredCommand | ConfiguredSsh | ConfiguredNoise;

interface Common {
  readonly id: string;
  /** Where it is configured: `FILE:LINE`, or the name of a variable. */
  readonly place: string;
  /** Milliseconds that the remote side has to answer the handshake. */
  readonly initializeTimeoutMs: number;
  /** Names of skills that it must have. */
  readonly requiredSkills: readonly string[];
  /** Id of the environment to use where this one cannot be connected. */
  readonly fallback?: string;
  /** Connect it before it is used. */
  readonly eager?: boolean;
}

/** An address. */
export interface ConfiguredWebSocket extends Common {
  readonly kind: "websocket";
  readonly url: string;
  /** Where the bearer token comes from; it is sent as it is. */
  readonly token?: TokenSource;
  /** Absolute path of a file with certificates (PEM) to trust as well. */
  readonly caFile?: string;
  readonly connectTimeoutMs: number;
}

/** Where a bearer token comes from. A file and a variable are read at each connection. */
export type TokenSource =
  | { kind: "literal"; token: string }
  /** Absolute path. */
  | { kind: "file"; file: string }
  | { kind: "variable"; name: string };

/** A program that speaks on its stdin and stdout. */
export interface ConfiguredCommand extends Common {
  readonly kind: "command";
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Absolute; undefined for the directory with the configuration. */
  readonly cwd: string;
  /** Names of variables of this process that it gets as well. */
  readonly envInherit: readonly string[];
}

/** A host that the `ssh` of the system reaches. */
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
  readonly authToken: string;
  readonly chatgptAccountId?: string;
}

/** The environments of a new conversation: the default first; none where environments are disabled. */
export function listIds({ environments, includeLocal, default: first }: EnvironmentsConfig): string[] {
  if (first === undefined) return [];
  const ids = [...(includeLocal ? ["local"] : []), ...environments.map(({ id }) => id)];
  return [first, ...ids.filter((id) => id !== first)];
}
