export { createMcpHttpServer, type McpHttpOptions, type McpHttpServer } from "./create-mcp-http-server.js";
export type { ClientToken } from "./guard.js";
export { listenMcp, type McpListener, type McpListenOptions } from "./listen-mcp.js";
