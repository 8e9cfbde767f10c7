/** An MCP server as `[mcp_servers.NAME]` of Codex's config.toml has it. Values of secrets are not in it, but for `env` and `httpHeaders`. */
export interface McpServerConfig {
  name: string;
  transport: StdioConfig | HttpConfig;
  /** False: it is not started. */
  enabled: boolean;
  /** Nothing goes on without it. */
  required: boolean;
  /** Milliseconds until its tools are listed. */
  startupTimeoutMs: number;
  /** Milliseconds for one call. */
  toolTimeoutMs: number;
  /** Names of tools; undefined for all. */
  enabledTools: readonly string[] | undefined;
  disabledTools: readonly string[];
  /** Where it runs, or where its requests are made; undefined for the default environment. */
  environmentId: string | undefined;
  /** Which calls are asked about. */
  approvalMode: McpApprovalMode;
  /** The same for single tools, by their names. */
  toolApprovalModes: Readonly<Record<string, McpApprovalMode>>;
}

/**
 * `approve`: none. `prompt`: all. `writes`: all of tools that do not say they only read. `auto`: like `writes`, without tools that say they
 * neither destroy anything nor reach beyond their own data.
 */
export type McpApprovalMode = "auto" | "prompt" | "writes" | "approve";

/** A program that speaks on its stdin and stdout. */
export interface StdioConfig {
  kind: "stdio";
  command: string;
  args: readonly string[];
  /** Values as they are configured. */
  env: Readonly<Record<string, string>>;
  /** Names of further variables. `local`: from the environment of this process; `remote`: of the host where it runs. */
  envVars: readonly { name: string; source: "local" | "remote" }[];
  /** Relative to the directory of the environment; undefined for that. */
  cwd: string | undefined;
}

/** An address that is reached by Streamable HTTP. */
export interface HttpConfig {
  kind: "http";
  url: string;
  /** Name of a variable of this process that has the token. */
  bearerTokenEnvVar: string | undefined;
  httpHeaders: Readonly<Record<string, string>>;
  /** Names of variables of this process, by header. One that is not set adds no header. */
  envHttpHeaders: Readonly<Record<string, string>>;
}
