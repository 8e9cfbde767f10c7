import { posix } from "node:path";
import type { Environment } from "@codex/environments";
import { defined } from "@codex/values";
import type { Transport } from "@modelcontextprotocol/client";
import type { HttpConfig, McpServerConfig, StdioConfig } from "../config/server-config.js";
import type { CredentialStore } from "../oauth/credential-store.js";
import { createTokenProvider } from "../oauth/token-provider.js";
import { createEnvironmentFetch } from "../transports/http-fetch.js";
import { StdioTransport } from "../transports/stdio.js";

/** The environment that runs a server or makes its requests. */
export interface McpPlace extends Pick<Environment, "id" | "backend" | "http"> {
  /**
   * `cwd`: its absolute directory, against which a configured one is resolved. `start`: where servers configured without one start;
   * default `cwd`. A program may load code from the directory it starts in, so nobody who is not trusted should write there.
   */
  info(): Promise<{ cwd: string; start?: string | undefined }>;
}

/** What else a transport is created from. */
export interface TransportOptions {
  /** Variables of this process, for those named in the configuration. */
  env: Variables;
  /** Logins of persons. Absent: nobody can log in. */
  credentials?: CredentialStore | undefined;
}

/** A transport that is not started yet, and the secret values it uses, to which those of a login are added as they are used. */
export interface ServerTransport {
  transport: Transport;
  secrets: readonly string[];
  /** Ends the session of an HTTP server; does nothing for others. */
  endSession(): Promise<void>;
}

type Variables = Readonly<Record<string, string | undefined>>;

/** @throws Error with the reason */
export function createServerTransport(
  { name, transport }: McpServerConfig,
  place: McpPlace,
  { env, credentials }: TransportOptions,
): Promise<ServerTransport> {
  return transport.kind === "stdio"
    ? createStdio(transport, place, env)
    : createHttp(transport, place, { name, env, credentials });
}

async function createStdio(config: StdioConfig, place: McpPlace, env: Variables): Promise<ServerTransport> {
  const { cwd, start = cwd } = await place.info();
  const local = config.envVars.filter(({ source }) => source === "local");
  const named = local.flatMap(({ name }): [string, string][] => {
    const value = env[name];
    return value === undefined ? [] : [[name, value]];
  });
  const variables = { ...Object.fromEntries(named), ...config.env };
  const hostVariables = config.envVars.filter(({ source }) => source === "remote").map(({ name }) => name);
  const transport = new StdioTransport(
    {
      command: config.command,
      args: config.args,
      env: variables,
      hostVariables,
      cwd: config.cwd === undefined ? start : posix.resolve(cwd, config.cwd),
    },
    { backend: place.backend },
  );
  return { transport, secrets: Object.values(variables), endSession: () => Promise.resolve() };
}

async function createHttp(
  config: HttpConfig,
  place: McpPlace,
  { name, env, credentials }: TransportOptions & { name: string },
): Promise<ServerTransport> {
  if (!URL.canParse(config.url) || !/^https?:$/.test(new URL(config.url).protocol)) {
    throw new Error("its `url` is not an http or https URL");
  }
  const fromEnv = Object.entries(config.envHttpHeaders).flatMap(([header, name]): [string, string][] => {
    const value = env[name]?.trim();
    return value === undefined || value === "" ? [] : [[header, value]];
  });
  const token = getToken(config, env);
  const headers = {
    ...config.httpHeaders,
    ...Object.fromEntries(fromEnv),
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  };
  const { StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
  const secrets = [...Object.values(headers), ...(token === undefined ? [] : [token]), ...listUrlSecrets(config.url)];
  const fetch = createEnvironmentFetch(place.http);
  const hasOwn = Object.keys(headers).some((header) => header.toLowerCase() === "authorization");
  const authProvider =
    hasOwn || credentials === undefined
      ? undefined
      : createTokenProvider(
          { name, url: config.url },
          { store: credentials, fetch, resource: config.oauth.resource, onSecret: addTo(secrets) },
        );
  const transport = new StreamableHTTPClientTransport(new URL(config.url), {
    fetch,
    requestInit: { headers },
    ...defined({ authProvider }),
  });
  const endSession = () => (transport.sessionId === undefined ? Promise.resolve() : transport.terminateSession());
  return { transport, secrets, endSession };
}

const addTo =
  (secrets: string[]) =>
  (secret: string): void => {
    if (!secrets.includes(secret)) secrets.push(secret);
  };

function getToken({ bearerTokenEnvVar }: HttpConfig, env: Variables): string | undefined {
  if (bearerTokenEnvVar === undefined) return undefined;
  const token = env[bearerTokenEnvVar]?.trim();
  if (token === undefined || token === "") {
    throw new Error(`the variable \`${bearerTokenEnvVar}\` of its \`bearer_token_env_var\` is not set or empty`);
  }
  return token;
}

function listUrlSecrets(text: string): string[] {
  const { username, password, searchParams } = new URL(text);
  return [decodeURIComponent(username), decodeURIComponent(password), ...searchParams.values()];
}
