import { posix } from "node:path";
import type { Environment } from "@codex/environments";
import type { Transport } from "@modelcontextprotocol/client";
import type { HttpConfig, McpServerConfig, StdioConfig } from "../config/server-config.js";
import { createEnvironmentFetch } from "../transports/http-fetch.js";
import { StdioTransport } from "../transports/stdio.js";

/** Where a server runs, or its requests are made. */
export interface McpPlace extends Pick<Environment, "id" | "backend" | "http"> {
  /** Its directory, absolute, for servers that are configured without one or relative to it. */
  info(): Promise<{ cwd: string }>;
}

/** A transport that is not started yet, and what must not be shown of it. */
export interface ServerTransport {
  transport: Transport;
  secrets: readonly string[];
  /** Tells a server with sessions that its session is over. */
  endSession(): Promise<void>;
}

type Variables = Readonly<Record<string, string | undefined>>;

/** @param env variables of this process, for those that the configuration names. @throws Error with the reason */
export function createServerTransport(
  { transport }: McpServerConfig,
  place: McpPlace,
  env: Variables,
): Promise<ServerTransport> {
  return transport.kind === "stdio" ? createStdio(transport, place, env) : createHttp(transport, place, env);
}

async function createStdio(config: StdioConfig, place: McpPlace, env: Variables): Promise<ServerTransport> {
  const { cwd } = await place.info();
  const local = config.envVars.filter(({ source }) => source === "local");
  const named = local.flatMap(({ name }): [string, string][] => {
    const value = env[name];
    return value === undefined ? [] : [[name, value]];
  });
  const given = { ...Object.fromEntries(named), ...config.env };
  const hostVariables = config.envVars.filter(({ source }) => source === "remote").map(({ name }) => name);
  const transport = new StdioTransport(
    {
      command: config.command,
      args: config.args,
      env: given,
      hostVariables,
      cwd: posix.resolve(cwd, config.cwd ?? "."),
    },
    { backend: place.backend },
  );
  return { transport, secrets: Object.values(given), endSession: () => Promise.resolve() };
}

async function createHttp(config: HttpConfig, place: McpPlace, env: Variables): Promise<ServerTransport> {
  if (!URL.canParse(config.url) || !/^https?:$/.test(new URL(config.url).protocol)) {
    throw new Error("its `url` is no http or https URL");
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
  const transport = new StreamableHTTPClientTransport(new URL(config.url), {
    fetch: createEnvironmentFetch(place.http),
    requestInit: { headers },
  });
  const secrets = [...Object.values(headers), ...(token === undefined ? [] : [token]), ...listUrlSecrets(config.url)];
  const endSession = () => (transport.sessionId === undefined ? Promise.resolve() : transport.terminateSession());
  return { transport, secrets, endSession };
}

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
