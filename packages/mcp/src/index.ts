export { createMcpServers } from "./create-mcp-servers.js";
export { type HostEntryTarget, type McpHost, renderHostEntry } from "./host-entry.js";
export type { McpServers } from "./mcp-servers.js";
export { isHoldTime, type McpServerOptions, type OnCancel } from "./options.js";
export { type ServeMcpStdioOptions, serveMcpStdio } from "./serve-mcp-stdio.js";
