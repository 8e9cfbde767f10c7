/** Hosts whose configuration has an entry for an MCP server. */
export type McpHost = "claude" | "codex" | "vscode" | "cursor";

/** How a host reaches the server: it starts a command, or sends requests to an address. */
export type HostEntryTarget =
  | { kind: "command"; command: string; args: readonly string[] }
  /** `hasToken`: the host sends the bearer token of the environment variable `CODEX_MCP_TOKEN`. */
  | { kind: "url"; url: string; hasToken: boolean };

/** The entry for this server, in the form of a host's configuration file. @param timeoutS time limit of one call */
export function renderHostEntry(host: McpHost, target: HostEntryTarget, timeoutS: number): string {
  if (host === "codex") return renderToml(target, timeoutS);
  const server = host === "vscode" || target.kind === "url" ? typed(target, host) : untyped(target);
  return `${JSON.stringify({ [host === "vscode" ? "servers" : "mcpServers"]: { codex: server } }, null, 2)}\n`;
}

const TOKEN_VARIABLE = "CODEX_MCP_TOKEN";

const untyped = ({ command, args }: Extract<HostEntryTarget, { kind: "command" }>) => ({ command, args });

function typed(target: HostEntryTarget, host: Exclude<McpHost, "codex">) {
  if (target.kind === "command") return { type: "stdio", ...untyped(target) };
  const variable = host === "claude" ? `\${${TOKEN_VARIABLE}}` : `\${env:${TOKEN_VARIABLE}}`;
  const headers = target.hasToken ? { headers: { Authorization: `Bearer ${variable}` } } : {};
  return { type: "http", url: target.url, ...headers };
}

function renderToml(target: HostEntryTarget, timeoutS: number): string {
  const lines =
    target.kind === "command"
      ? [`command = ${JSON.stringify(target.command)}`, `args = ${JSON.stringify(target.args)}`]
      : [
          `url = ${JSON.stringify(target.url)}`,
          ...(target.hasToken ? [`bearer_token_env_var = ${JSON.stringify(TOKEN_VARIABLE)}`] : []),
        ];
  return [
    "# config.toml",
    "[mcp_servers.codex]",
    ...lines,
    `tool_timeout_sec = ${timeoutS}`,
    'default_tools_approval_mode = "approve" # the policy of this server decides, and asks',
    "",
  ].join("\n");
}
