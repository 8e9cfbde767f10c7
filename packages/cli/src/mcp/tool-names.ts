/** Whether a tool is one of an MCP server, or finds and reads what such servers have. */
export const isMcpTool = (name: string): boolean => name.startsWith("mcp__") || LIBRARY.test(name);

const LIBRARY = /^(?:list|read|get)_mcp_(?:resource|prompt)/;
