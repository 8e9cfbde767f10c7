import { describePlace, type LoadedConfig, saveMcpServer } from "@codex/config";
import { McpConfigError, type McpLoginState, type McpServerConfig, parseMcpServers } from "@codex/mcp-client";
import { defined } from "@codex/values";
import { CommandError, EXIT } from "../exit-codes.js";
import { readLogins } from "../mcp/logins.js";
import { printJson, printLine, say } from "../notice.js";
import { type FeatureFlags, openConfig, settingsOf } from "../open-config.js";

/** Options of `codex mcp add`. */
export interface McpAddOptions extends FeatureFlags {
  env?: readonly string[];
  url?: string;
  bearerTokenEnvVar?: string;
  oauthClientId?: string;
  oauthClientSecret?: string;
  oauthResource?: string;
}

/** Prints the configured servers. Values of variables and headers, which may be secrets, are never shown. */
export async function runMcpList(options: FeatureFlags & { json: boolean }): Promise<void> {
  const config = await openConfig({ config: settingsOf(options) });
  const servers = readServers(config);
  const logins = await readLogins(servers);
  if (options.json) return void printJson(servers.map((server) => describe(server, config, logins)));
  if (servers.length === 0) return say("there are no MCP servers; `codex mcp add NAME -- COMMAND` adds one");
  for (const server of servers) printLine(render(server, config, logins));
}

/** Prints one of them. */
export async function runMcpGet(name: string, options: FeatureFlags & { json: boolean }): Promise<void> {
  const config = await openConfig({ config: settingsOf(options) });
  const server = findServer(config, name);
  const logins = await readLogins([server]);
  if (options.json) return void printJson({ ...describe(server, config, logins), ...describeTools(server) });
  printLine(render(server, config, logins));
  printLine(`  remove: codex mcp remove ${name}`);
}

/** Writes a server into the user's configuration, in place of one of that name. */
export async function runMcpAdd(name: string, words: readonly string[], options: McpAddOptions): Promise<void> {
  const { env = [], url, bearerTokenEnvVar, oauthClientId, oauthClientSecret, oauthResource } = options;
  const [command, ...args] = words;
  if ((command === undefined) === (url === undefined)) {
    throw new CommandError("mcp add needs --url <url> or, after --, a command", EXIT.usage);
  }
  if (url !== undefined && env.length > 0) throw new CommandError("--env is for servers that are commands", EXIT.usage);
  if (url !== undefined && !/^https?:\/\//.test(url)) {
    throw new CommandError(`--url ${JSON.stringify(url)}: expected http:// or https://`, EXIT.usage);
  }
  const pairs = env.map(readPair);
  const { sources, requirements } = await openConfig({ config: settingsOf(options) });
  await saveMcpServer(sources.home, name, {
    ...defined({ command, url, bearer_token_env_var: bearerTokenEnvVar, oauth_resource: oauthResource }),
    ...(args.length === 0 ? {} : { args }),
    ...(pairs.length === 0 ? {} : { env: Object.fromEntries(pairs) }),
    ...(oauthClientId === undefined
      ? {}
      : { oauth: { client_id: oauthClientId, ...defined({ client_secret: oauthClientSecret }) } }),
  });
  printLine(`Added global MCP server '${name}'.`);
  const required = requirements?.mcpServers;
  if (required !== undefined && !required.servers.has(name)) {
    say(`it is turned off by ${describePlace(required.origin)}: it is not one of those there`);
  }
}

/** Removes a server from the user's configuration. */
export async function runMcpRemove(name: string, options: FeatureFlags): Promise<void> {
  const { sources } = await openConfig({ config: settingsOf(options) });
  const isGone = (await saveMcpServer(sources.home, name, undefined)) === "saved";
  printLine(isGone ? `Removed global MCP server '${name}'.` : `No MCP server named '${name}' found.`);
}

function readPair(pair: string): [string, string] {
  const at = pair.indexOf("=");
  // Not the whole text: its value may be a secret.
  if (at <= 0) throw new CommandError("--env: expected KEY=VALUE", EXIT.usage);
  return [pair.slice(0, at), pair.slice(at + 1)];
}

/** @throws CommandError if there is none of that name */
export function findServer(config: LoadedConfig, name: string): McpServerConfig {
  const server = readServers(config).find((each) => each.name === name);
  if (server === undefined) throw new CommandError(`there is no MCP server ${JSON.stringify(name)}`);
  return server;
}

function readServers({ table }: LoadedConfig): McpServerConfig[] {
  try {
    return parseMcpServers(table.mcp_servers);
  } catch (cause) {
    if (!(cause instanceof McpConfigError)) throw cause;
    throw new CommandError(`config.toml: ${cause.message}`, EXIT.failure, { cause });
  }
}

/** Who has turned a server off that the administrator does not allow; null for any other. */
function findReason({ name }: McpServerConfig, { mcpServers }: LoadedConfig): string | null {
  const origin = mcpServers.find((each) => each.name === name)?.origin;
  const isRequired = origin?.kind === "file" && origin.layer === "requirements";
  return isRequired ? `requirements (${describePlace(origin)})` : null;
}

const HIDDEN_VALUE = "*****";
const hide = (values: Readonly<Record<string, string>>): Record<string, string> | null =>
  Object.keys(values).length === 0 ? null : Object.fromEntries(Object.keys(values).map((name) => [name, HIDDEN_VALUE]));

type Logins = ReadonlyMap<string, McpLoginState>;

function describe(server: McpServerConfig, config: LoadedConfig, logins: Logins) {
  const { name, enabled, transport, startupTimeoutMs, toolTimeoutMs } = server;
  return {
    name,
    enabled,
    disabled_reason: findReason(server, config),
    transport:
      transport.kind === "stdio"
        ? {
            type: "stdio",
            command: transport.command,
            args: transport.args,
            env: hide(transport.env),
            env_vars: transport.envVars.map((each) => each.name),
            cwd: transport.cwd ?? null,
          }
        : {
            type: "streamable_http",
            url: transport.url,
            bearer_token_env_var: transport.bearerTokenEnvVar ?? null,
            http_headers: hide(transport.httpHeaders),
            env_http_headers: Object.keys(transport.envHttpHeaders).length === 0 ? null : transport.envHttpHeaders,
          },
    startup_timeout_sec: startupTimeoutMs / 1000,
    tool_timeout_sec: toolTimeoutMs / 1000,
    auth_status: logins.get(name) ?? "unsupported",
  };
}

const describeTools = ({ enabledTools, disabledTools }: McpServerConfig) => ({
  enabled_tools: enabledTools ?? null,
  disabled_tools: disabledTools.length === 0 ? null : disabledTools,
});

function render(server: McpServerConfig, config: LoadedConfig, logins: Logins): string {
  const { name, enabled, transport } = server;
  const reason = findReason(server, config);
  const lines =
    transport.kind === "stdio"
      ? [
          ["transport", "stdio"],
          ["command", transport.command],
          ["args", transport.args.join(" ") || "-"],
          ["cwd", transport.cwd ?? "-"],
          ["env", renderHidden(transport.env)],
        ]
      : [
          ["transport", "streamable_http"],
          ["url", transport.url],
          ["bearer_token_env_var", transport.bearerTokenEnvVar ?? "-"],
          ["http_headers", renderHidden(transport.httpHeaders)],
          ["auth", describeLogin(name, logins.get(name) ?? "unsupported")],
        ];
  const rows = [["enabled", reason === null ? String(enabled) : `false, by ${reason}`], ...lines];
  return [name, ...rows.map(([key, value]) => `  ${key}: ${value}`)].join("\n");
}

function describeLogin(name: string, state: McpLoginState): string {
  switch (state) {
    case "o_auth":
      return "logged in with OAuth";
    case "not_logged_in":
      return `not logged in: codex mcp login ${name}`;
    case "bearer_token":
      return "a token of the configuration";
    case "unsupported":
      return "-";
    case "unknown":
      return "unknown, the server does not answer";
  }
}

const renderHidden = (values: Readonly<Record<string, string>>): string =>
  Object.keys(values)
    .map((name) => `${name}=${HIDDEN_VALUE}`)
    .join(", ") || "-";
