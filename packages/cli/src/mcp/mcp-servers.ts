import type { Environment } from "@codex/environments";
import { type McpTools, openMcpTools } from "@codex/mcp-client";
import type { CommandSandbox } from "@codex/sandbox";
import { createOwnEnvironment } from "../own-environment.js";

/** What MCP servers are started with. */
export interface McpServerOptions {
  /** The environment with this id. Throws if this command does not use it; its servers are then not started. */
  getEnvironment(id: string): Environment | Promise<Environment>;
  /** Working directory in an environment, absolute; undefined: the environment's own. */
  cwdOf(id: string): string | undefined;
  /** Shared with the executor of this host; default its own. */
  sandbox?: CommandSandbox | undefined;
  /** Name of a single tool to call: only its server is started. */
  tool?: string | undefined;
}

/** Starts the MCP servers of a configuration without waiting; those without `environment_id` on this host, as Codex. @throws McpConfigError */
export function openMcpServers(
  table: Readonly<Record<string, unknown>>,
  { getEnvironment, cwdOf, tool, sandbox }: McpServerOptions,
): McpTools {
  const own = createOwnEnvironment({ sandbox });
  const tools = openMcpTools(table, {
    defaultEnvironment: own.id,
    getEnvironment: (id = own.id) => (id === own.id ? own : getEnvironment(id)),
    cwdOf,
    tool,
  });
  const close = async () => {
    await tools.close();
    await own.close();
  };
  return { ...tools, close };
}
