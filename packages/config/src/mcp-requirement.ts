import type { TomlTable } from "@codex/toml";
import * as z from "zod/mini";
import { createValueError, renderValue } from "./config-error.js";
import { describePlace, type Origin } from "./origin.js";
import type { Source } from "./source.js";
import { isTable } from "./tables.js";

/** The only MCP servers that may be used: their names, and the program or address that each must have. */
export interface McpRequirement {
  readonly servers: ReadonlyMap<string, { readonly command: string } | { readonly url: string }>;
  readonly origin: Origin;
}

const serverSchema = z.strictObject({
  identity: z.union([z.strictObject({ command: z.string() }), z.strictObject({ url: z.string() })]),
});

/** @throws ConfigError for an entry without an identity, or with one that says more than is compared */
export function readMcpRequirement({ table, locate }: Source): McpRequirement {
  const { mcp_servers: given } = table;
  const origin = locate(["mcp_servers"]);
  if (!isTable(given)) throw createValueError(origin, "mcp_servers", renderValue(given), "a table of servers");
  const servers = new Map<string, z.infer<typeof serverSchema>["identity"]>();
  for (const [name, value] of Object.entries(given)) {
    const parsed = z.safeParse(serverSchema, value);
    if (!parsed.success) {
      const expected = "`identity` with `command` or `url`, and nothing else";
      throw createValueError(locate(["mcp_servers", name]), `mcp_servers.${name}`, renderValue(value), expected);
    }
    servers.set(name, parsed.data.identity);
  }
  return { servers, origin };
}

/** The table with every server turned off that is not one of the required ones, and who turned them off. */
export function restrictServers(
  table: TomlTable,
  { servers, origin }: McpRequirement,
): { table: TomlTable; notices: readonly string[] } {
  const { mcp_servers: given } = table;
  if (!isTable(given)) return { table, notices: [] };
  const notices: string[] = [];
  const restricted = Object.entries(given).map(([name, server]) => {
    if (!isTable(server) || isAllowed(server, servers.get(name))) return [name, server];
    if (server.enabled !== false) {
      const why = servers.has(name) ? "its program or address is another one there" : "it is not one of those there";
      notices.push(`MCP server ${renderValue(name)} is turned off by ${describePlace(origin)}: ${why}`);
    }
    return [name, { ...server, enabled: false, required: false }];
  });
  return { table: { ...table, mcp_servers: Object.fromEntries(restricted) }, notices };
}

function isAllowed(server: TomlTable, identity: { command: string } | { url: string } | undefined): boolean {
  if (identity === undefined) return false;
  return "command" in identity
    ? server.command === identity.command && server.url === undefined
    : server.url === identity.url && server.command === undefined;
}
