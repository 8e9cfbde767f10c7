export { createMcpServers, type McpServers } from "./create-mcp-servers.js";
export type { McpServerOptions, OnCancel } from "./options.js";
