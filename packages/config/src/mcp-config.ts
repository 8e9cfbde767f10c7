import { parseKeyPath, renderKeyPath, type TomlTable } from "@codex/toml";
import { ConfigError } from "./config-error.js";
import { rewriteUserConfig } from "./edit-config.js";
import { isTable } from "./tables.js";

/** An MCP server as `codex mcp add` writes it: texts, lists of texts, and one table of texts. */
export type McpServerTable = Readonly<Record<string, string | readonly string[] | Readonly<Record<string, string>>>>;

/**
 * Writes a server into `[mcp_servers]` of the user's `config.toml`, in place of one of that name, or with undefined removes it. `kept`: there was
 * none to remove. Everything else stays as it is.
 * @throws ConfigError for a name that is none, and where the file cannot be changed; it is left unchanged then
 */
export async function saveMcpServer(
  home: string,
  name: string,
  server: McpServerTable | undefined,
): Promise<"saved" | "kept"> {
  if (!/^[A-Za-z0-9_:@/.-]+$/.test(name)) {
    throw new ConfigError(
      `invalid server name ${JSON.stringify(name)}; expected letters, digits, '-', '_', ':', '@', '/' and '.'`,
      "usage",
    );
  }
  const path = ["mcp_servers", name];
  return rewriteUserConfig(
    home,
    (text, table) => {
      const { mcp_servers: given } = table;
      const servers = isTable(given) ? given : {};
      if (server === undefined && !Object.hasOwn(servers, name)) return undefined;
      const { [name]: _, ...others } = servers;
      const left = removeTable(text, path);
      return {
        text: server === undefined ? left : append(left, path, server),
        table: withServers(table, server === undefined ? others : { ...others, [name]: server }),
        byHand: `${renderKeyPath(path)} cannot be changed as it is written there: change it by hand`,
      };
    },
    "the MCP server cannot be written",
  );
}

/** A table without entries is as good as none. */
function withServers({ mcp_servers: _, ...rest }: TomlTable, servers: TomlTable): TomlTable {
  return Object.keys(servers).length === 0 ? rest : { ...rest, mcp_servers: servers };
}

/** The text without a table and those below it. Comments before the next table stay. */
function removeTable(text: string, path: readonly string[]): string {
  const kept: string[] = [];
  let isInside = false;
  let comments: string[] = [];
  for (const line of text.split(/(?<=\n)/)) {
    const header = parseHeader(line);
    if (header !== undefined) {
      const wasInside = isInside;
      isInside = path.every((part, at) => header[at] === part);
      if (wasInside && !isInside) kept.push(...comments);
      comments = [];
    }
    if (!isInside) kept.push(line);
    else if (/^\s*(#|$)/.test(line)) comments.push(line);
    else comments = [];
  }
  return kept
    .join("")
    .replace(/^(?:\r?\n)+/, "")
    .replace(/(?:\r?\n){3,}/g, "\n\n");
}

/** The key of a line such as `[a.b]` or `[[a.b]]`. */
function parseHeader(line: string): string[] | undefined {
  const [, key] = /^\s*\[\[?([^[\]]+)\]\]?\s*(?:#.*)?$/.exec(line.trimEnd()) ?? [];
  return key === undefined ? undefined : parseKeyPath(key.trim());
}

function append(text: string, path: readonly string[], server: McpServerTable): string {
  const entries = Object.entries(server);
  const own = entries.flatMap(([key, value]) => {
    if (typeof value === "string") return [`${key} = ${quote(value)}`];
    return Array.isArray(value) ? [`${key} = [${value.map((each) => quote(String(each))).join(", ")}]`] : [];
  });
  const tables = entries.flatMap(([key, value]) =>
    typeof value === "string" || Array.isArray(value)
      ? []
      : [
          "",
          `[${renderKeyPath([...path, key])}]`,
          ...Object.entries(value).map(([name, each]) => `${renderKeyPath([name])} = ${quote(String(each))}`),
        ],
  );
  const before = text === "" || text.endsWith("\n\n") ? text : text.endsWith("\n") ? `${text}\n` : `${text}\n\n`;
  return `${before}${[`[${renderKeyPath(path)}]`, ...own, ...tables].join("\n")}\n`;
}

/** A string of TOML, whose escapes are those of JSON and one more. */
const quote = (text: string): string => JSON.stringify(text).replaceAll("\x7f", "\\u007f");
