/** Hosts whose configuration has an entry for an MCP server. */
export type McpHost = "claude" | "codex" | "vscode" | "cursor";

/** The entry that starts this server with these arguments, as the file of a host has it. `timeoutS`: of one call, above what a call is held. */
export function renderHostEntry(host: McpHost, args: readonly string[], timeoutS: number): string {
  const server = { command: "codex-ts", args: ["mcp-server", ...args] };
  switch (host) {
    case "codex":
      return [
        "# config.toml",
        "[mcp_servers.codex]",
        `command = ${JSON.stringify(server.command)}`,
        `args = ${JSON.stringify(server.args)}`,
        `tool_timeout_sec = ${timeoutS}`,
        'default_tools_approval_mode = "approve" # the policy of this server decides, and asks',
        "",
      ].join("\n");
    case "vscode":
      return toJson({ servers: { codex: { type: "stdio", ...server } } });
    case "claude":
    case "cursor":
      return toJson({ mcpServers: { codex: server } });
  }
}

const toJson = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;
