/** A setting of an MCP server that does not fit. Its message names server and key, and no value that may be a secret. */
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
