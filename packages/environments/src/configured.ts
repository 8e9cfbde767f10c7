import type { Clock } from "@codex/clock";
import { readPlainFile } from "@codex/plain-file";
import type { Telemetry } from "@codex/telemetry";
import { defined, messageOf } from "@codex/values";
import type {
  ConfiguredEnvironment,
  ConfiguredNoise,
  ConfiguredSsh,
  ConfiguredWebSocket,
  EnvironmentsConfig,
} from "./config/environment-config.js";
import { listIds } from "./config/environment-config.js";
import { readSshUrl } from "./config/ssh-url.js";
import type { Environment } from "./environment.js";
import type { EnvironmentProvider } from "./environments.js";
import { MAX_TOKEN_FILE_BYTES, SSH_RECOVERY_MS } from "./limits.js";
import { createCommandLink } from "./links/command.js";
import { openKnownExecutors } from "./links/known-executors.js";
import type { EnvironmentLink } from "./links/link.js";
import { LinkError } from "./links/link-error.js";
import { createNoiseLink, type NoiseAddress } from "./links/noise.js";
import { listUrlSecrets } from "./links/redact.js";
import { createWebSocketLink } from "./links/websocket.js";
import type { HostTools } from "./remote/host.js";
import { createRemoteEnvironment } from "./remote/remote-environment.js";

/** Dependencies of configured environments. */
export interface ConfiguredOptions {
  /** Creates the environment `local`. If omitted, `local` exists but cannot be connected. */
  local?: () => Environment;
  hostTools?: HostTools | undefined;
  /** Links of kinds that this package does not implement itself. */
  links?: {
    ssh?: (configured: ConfiguredSsh) => EnvironmentLink;
  };
  /** File with the trusted keys of executors behind registries. Without it, registries are trusted. */
  knownExecutors?: string | undefined;
  /** Environment variables with tokens; default: those of this process. */
  env?: Readonly<Record<string, string | undefined>>;
  /** Called with each stderr line of an environment's program. */
  onLine?: (id: string, line: string) => void;
  telemetry?: Telemetry | undefined;
  clock?: Clock;
}

/** The configured environments, unconnected; `createEnvironments` connects the eager ones. */
export function createConfiguredProvider(
  config: EnvironmentsConfig,
  options: ConfiguredOptions = {},
): EnvironmentProvider {
  const { local = () => createMissing("local", "local", "this program has no environment of its own host") } = options;
  const byId = new Map(config.environments.map((configured) => [configured.id, configured]));
  const ids = config.default === undefined ? listAll(config) : listIds(config);
  return {
    environments: ids.map((id) => {
      const configured = byId.get(id);
      return configured === undefined ? local() : createConfigured(configured, options);
    }),
    default: config.default,
    getFallback: (id) => byId.get(id)?.fallback,
    eager: config.environments.filter(({ eager }) => eager === true).map(({ id }) => id),
  };
}

/** One configured environment, unconnected. */
export function createConfigured(configured: ConfiguredEnvironment, options: ConfiguredOptions = {}): Environment {
  const { hostTools, telemetry, clock } = options;
  return createRemoteEnvironment({
    id: configured.id,
    kind: configured.kind,
    link: createLink(configured, options),
    hostTools,
    initializeTimeoutMs: configured.initializeTimeoutMs,
    telemetry,
    ...(configured.kind === "ssh" ? describeSsh(configured) : {}),
    ...defined({ clock, resourceLimits: configured.limits }),
  });
}

/** The directory in its address, and the longer recovery window of the server there. */
function describeSsh({ url }: ConfiguredSsh): { cwd?: string | undefined; recoveryWindowMs: number } {
  const address = readSshUrl(url);
  return { cwd: typeof address === "string" ? undefined : address.cwd, recoveryWindowMs: SSH_RECOVERY_MS };
}

const listAll = ({ environments, includeLocal }: EnvironmentsConfig): string[] => [
  ...(includeLocal ? ["local"] : []),
  ...environments.map(({ id }) => id),
];

function createLink(
  configured: ConfiguredEnvironment,
  { links = {}, env = process.env, onLine, clock, knownExecutors }: ConfiguredOptions,
): EnvironmentLink {
  switch (configured.kind) {
    case "websocket":
      return createConfiguredWebSocket(configured, env);
    case "command": {
      const { id, program, args, cwd, envInherit } = configured;
      return createCommandLink({
        program,
        args,
        env: configured.env,
        cwd,
        inherit: envInherit,
        ...(onLine === undefined ? {} : { onLine: (line) => onLine(id, line) }),
        ...defined({ clock }),
      });
    }
    case "ssh":
      return links.ssh?.(configured) ?? createUnsupported("this program cannot use ssh:// addresses");
    case "noise":
      return createNoiseLink(toNoiseAddress(configured, { env, knownExecutors, clock }));
  }
}

/** The address of a configured environment behind a registry. */
export function toNoiseAddress(
  configured: ConfiguredNoise,
  {
    env = process.env,
    knownExecutors,
    clock,
  }: {
    env?: ConfiguredOptions["env"] | undefined;
    knownExecutors?: string | undefined;
    clock?: Clock | undefined;
  } = {},
): NoiseAddress {
  const { registryUrl, environmentId, labels, token: source, caFile, chatgptAccountId } = configured;
  const token = source === undefined ? "" : source.kind === "literal" ? source.token : () => openToken(source, env);
  const known = knownExecutors === undefined ? undefined : openKnownExecutors(knownExecutors);
  const ca = caFile === undefined ? undefined : () => readText(caFile, "ca_file");
  return { registryUrl, environmentId, labels, token, ca, chatgptAccountId, known, clock };
}

function createConfiguredWebSocket(
  { url, token, caFile, connectTimeoutMs }: ConfiguredWebSocket,
  env: NonNullable<ConfiguredOptions["env"]>,
): EnvironmentLink {
  const secrets = listUrlSecrets(url);
  const readToken = async (): Promise<string> => {
    const read = token === undefined ? "" : await openToken(token, env);
    if (!secrets.includes(read)) secrets.push(read);
    return read;
  };
  return {
    secrets,
    async open(signal) {
      const ca = caFile === undefined ? undefined : await readText(caFile, "ca_file");
      const link = createWebSocketLink({
        url,
        connectTimeoutMs: Math.min(connectTimeoutMs, LONGEST_TIMER_MS),
        ...(token === undefined ? {} : { token: readToken }),
        ...defined({ ca }),
      });
      return link.open(signal);
    },
  };
}

/** The longest delay of a Node timer, milliseconds. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Files and variables are read for each connection, so that a renewed token is used at the next one. */
async function openToken(
  token: NonNullable<ConfiguredWebSocket["token"]>,
  env: NonNullable<ConfiguredOptions["env"]>,
): Promise<string> {
  if (token.kind === "literal") return token.token;
  const read = token.kind === "file" ? await readText(token.file, "auth_bearer_token_file") : env[token.name];
  const found = read?.trim() ?? "";
  if (found !== "") return found;
  const where = token.kind === "file" ? `the file ${token.file}` : `the variable ${token.name}`;
  throw new LinkError("unauthorized", `${where}, which should contain its bearer token, is empty`);
}

async function readText(file: string, key: string): Promise<string> {
  try {
    return String(await readPlainFile(file, { maxBytes: MAX_TOKEN_FILE_BYTES }));
  } catch (error) {
    throw new LinkError("unauthorized", `\`${key}\` cannot be read: ${messageOf(error)}`);
  }
}

function createUnsupported(reason: string): EnvironmentLink {
  return { open: () => Promise.reject(new LinkError("unsupported", reason)) };
}

function createMissing(id: string, kind: string, reason: string): Environment {
  return createRemoteEnvironment({ id, kind, link: createUnsupported(reason) });
}
