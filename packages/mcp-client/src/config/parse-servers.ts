import { findProblem, PARSE_CONTEXT } from "@codex/values/problem";
import * as z from "zod/mini";
import { DEFAULT_STARTUP_MS, DEFAULT_TOOL_MS, MAX_SECONDS, MAX_SERVERS } from "../limits.js";
import { McpConfigError } from "./config-error.js";
import type { HttpConfig, McpApprovalMode, McpServerConfig, StdioConfig } from "./server-config.js";

/**
 * The servers of `[mcp_servers]`, in file order. Accepts and rejects the same input as Codex 0.169.0; unknown keys are ignored.
 * @param table the parsed value of the key `mcp_servers`; undefined for none
 * @throws McpConfigError
 */
export function parseMcpServers(table: unknown): McpServerConfig[] {
  if (table === undefined) return [];
  if (!isTable(table)) throw new McpConfigError(ROOT, `expected a table, got ${describe(table)}`);
  const entries = Object.entries(table);
  if (entries.length > MAX_SERVERS) {
    throw new McpConfigError(ROOT, `${entries.length} servers, the limit is ${MAX_SERVERS}`);
  }
  return entries.map(([name, server]) => parseServer(name, server));
}

const ROOT = "mcp_servers";
const isTable = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);

const strings = z.array(z.string());
const byName = z.record(z.string(), z.string());
const seconds = z.number().check(z.minimum(0), z.maximum(MAX_SECONDS));
const mode = z.enum(["auto", "prompt", "writes", "approve"]);
const serverSchema = z.object({
  command: z.optional(z.string()),
  args: z.optional(strings),
  env: z.optional(byName),
  env_vars: z.optional(
    z.array(z.union([z.string(), z.object({ name: z.string(), source: z.optional(z.enum(["local", "remote"])) })])),
  ),
  cwd: z.optional(z.string()),
  url: z.optional(z.string()),
  bearer_token_env_var: z.optional(z.string()),
  http_headers: z.optional(byName),
  env_http_headers: z.optional(byName),
  oauth: z.optional(
    z.object({
      client_id: z.string(),
      client_secret: z.optional(z.string()),
      callback_url: z.optional(z.string()),
    }),
  ),
  oauth_resource: z.optional(z.string()),
  scopes: z.optional(strings),
  startup_timeout_sec: z.optional(seconds),
  startup_timeout_ms: z.optional(z.int().check(z.minimum(0))),
  tool_timeout_sec: z.optional(seconds),
  enabled: z.optional(z.boolean()),
  required: z.optional(z.boolean()),
  enabled_tools: z.optional(strings),
  disabled_tools: z.optional(strings),
  environment_id: z.optional(z.string()),
  experimental_environment: z.optional(z.string()),
  default_tools_approval_mode: z.optional(mode),
  tools: z.optional(z.record(z.string(), z.object({ approval_mode: z.optional(mode) }))),
});
type Server = z.output<typeof serverSchema>;

/** Keys of the other kind of server. `bearer_token` is never allowed, because the file is often shared. */
const NOT_STDIO = [
  "url",
  "bearer_token_env_var",
  "http_headers",
  "env_http_headers",
  "bearer_token",
  "oauth",
  "oauth_resource",
];
const NOT_HTTP = ["args", "env", "env_vars", "cwd", "bearer_token"];

function parseServer(name: string, value: unknown): McpServerConfig {
  const key = `${ROOT}.${quoteKey(name)}`;
  if (!isTable(value)) throw new McpConfigError(key, `expected a table, got ${describe(value)}`);
  const parsed = z.safeParse(serverSchema, value, PARSE_CONTEXT);
  if (!parsed.success) throw toConfigError(key, value, parsed.error);
  const server = parsed.data;
  const startupMs = server.startup_timeout_sec === undefined ? undefined : server.startup_timeout_sec * 1000;
  const modes = Object.entries(server.tools ?? {}).flatMap(([tool, { approval_mode }]): [string, McpApprovalMode][] =>
    approval_mode === undefined ? [] : [[tool, approval_mode]],
  );
  return {
    name,
    transport: parseTransport(key, value, server),
    enabled: server.enabled ?? true,
    required: server.required ?? false,
    startupTimeoutMs: startupMs ?? server.startup_timeout_ms ?? DEFAULT_STARTUP_MS,
    toolTimeoutMs: server.tool_timeout_sec === undefined ? DEFAULT_TOOL_MS : server.tool_timeout_sec * 1000,
    enabledTools: server.enabled_tools,
    disabledTools: server.disabled_tools ?? [],
    environmentId: server.environment_id ?? server.experimental_environment,
    approvalMode: server.default_tools_approval_mode ?? "auto",
    toolApprovalModes: Object.fromEntries(modes),
  };
}

function parseTransport(key: string, table: Readonly<Record<string, unknown>>, server: Server) {
  const { command, url } = server;
  if (command !== undefined) {
    rejectKeys(key, table, NOT_STDIO, "a server with `command`");
    return toStdio(command, server);
  }
  if (url !== undefined) {
    rejectKeys(key, table, NOT_HTTP, "a server with `url`");
    return toHttp(url, server);
  }
  throw new McpConfigError(key, "it has neither `command` nor `url`");
}

function rejectKeys(
  key: string,
  table: Readonly<Record<string, unknown>>,
  keys: readonly string[],
  what: string,
): void {
  const wrong = keys.find((each) => table[each] !== undefined);
  if (wrong === undefined) return;
  const hint = wrong === "bearer_token" ? "; name a variable with `bearer_token_env_var`" : "";
  throw new McpConfigError(`${key}.${wrong}`, `${what} does not take it${hint}`);
}

const toStdio = (command: string, { args = [], env = {}, env_vars = [], cwd }: Server): StdioConfig => ({
  kind: "stdio",
  command,
  args,
  env,
  envVars: env_vars.map((each) => {
    return typeof each === "string"
      ? { name: each, source: "local" }
      : { name: each.name, source: each.source ?? "local" };
  }),
  cwd,
});

const toHttp = (url: string, server: Server): HttpConfig => ({
  kind: "http",
  url,
  bearerTokenEnvVar: server.bearer_token_env_var,
  httpHeaders: server.http_headers ?? {},
  envHttpHeaders: server.env_http_headers ?? {},
  oauth: {
    clientId: server.oauth?.client_id,
    clientSecret: server.oauth?.client_secret,
    callbackUrl: server.oauth?.callback_url,
    resource: server.oauth_resource,
    scopes: server.scopes,
  },
});

/** Names the first invalid key and what was expected, never its value. */
function toConfigError(key: string, table: unknown, error: z.core.$ZodError): McpConfigError {
  const { name, text } = findProblem(error, table);
  return new McpConfigError(/^$|^\[/.test(name) ? `${key}${name}` : `${key}.${name}`, text);
}

function describe(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  if (value instanceof Date) return "a date";
  if (typeof value === "object" && value !== null) return "a table";
  // Numbers and booleans are not secret.
  return typeof value === "string"
    ? "a string"
    : typeof value === "number" || typeof value === "boolean"
      ? String(value)
      : "nothing";
}

const quoteKey = (key: string): string => (/^[A-Za-z0-9_-]+$/.test(key) ? key : JSON.stringify(key));
