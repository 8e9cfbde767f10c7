/** An MCP server as configured in `[mcp_servers.NAME]` of Codex's config.toml. Only `env` and `httpHeaders` may contain secret values. */
export interface McpServerConfig {
  name: string;
  transport: StdioConfig | HttpConfig;
  /** If false, it is not started. */
  enabled: boolean;
  /** If it fails to start, start-up as a whole fails. */
  required: boolean;
  /** Time limit for connecting and listing its tools, milliseconds. */
  startupTimeoutMs: number;
  /** Time limit for one call, milliseconds. */
  toolTimeoutMs: number;
  /** Names of the tools to offer; undefined for all. */
  enabledTools: readonly string[] | undefined;
  disabledTools: readonly string[];
  /** The environment that runs it or makes its requests; undefined for the default environment. */
  environmentId: string | undefined;
  /** Which calls need approval. */
  approvalMode: McpApprovalMode;
  /** Overrides for individual tools, by name. */
  toolApprovalModes: Readonly<Record<string, McpApprovalMode>>;
}

/**
 * Calls that need approval. `approve`: none. `prompt`: all. `writes`: those of tools not declared read-only. `auto`: like `writes`, except
 * tools declared neither destructive nor open-world.
 */
export type McpApprovalMode = "auto" | "prompt" | "writes" | "approve";

/** A program that communicates over its stdin and stdout. */
export interface StdioConfig {
  kind: "stdio";
  command: string;
  args: readonly string[];
  /** Literal values from the configuration. */
  env: Readonly<Record<string, string>>;
  /** Names of further variables. `local`: taken from this process; `remote`: from the host where it runs. */
  envVars: readonly { name: string; source: "local" | "remote" }[];
  /** Relative to the environment's directory. */
  cwd: string | undefined;
}

/** A server reached over Streamable HTTP. */
export interface HttpConfig {
  kind: "http";
  url: string;
  /** Name of the variable of this process with the token. */
  bearerTokenEnvVar: string | undefined;
  httpHeaders: Readonly<Record<string, string>>;
  /** Names of variables of this process, by header. An unset variable adds no header. */
  envHttpHeaders: Readonly<Record<string, string>>;
  oauth: OAuthConfig;
}

/** How a person logs in to a server. Without `clientId`, a client is registered. Only `clientSecret` may be a secret value. */
export interface OAuthConfig {
  clientId: string | undefined;
  clientSecret: string | undefined;
  /** Where the browser comes back to; default a port of 127.0.0.1. */
  callbackUrl: string | undefined;
  /** The resource that tokens are asked for; default the one that the server names. */
  resource: string | undefined;
  /** Scopes to ask for; default those that the server names. */
  scopes: readonly string[] | undefined;
}
