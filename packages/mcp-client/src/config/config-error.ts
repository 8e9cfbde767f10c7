/** An invalid setting of an MCP server. The message names the server and the key, and never a value that may be secret. */
export class McpConfigError extends Error {
  override readonly name = "McpConfigError";

  /** @param key as in the file, such as `mcp_servers.git.args` */
  constructor(
    readonly key: string,
    readonly reason: string,
  ) {
    super(`\`${key}\`: ${reason}`);
  }
}
