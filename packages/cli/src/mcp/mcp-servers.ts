import type { Environment } from "@codex/environments";
import { type AskPerson, type McpPlace, type McpTools, openMcpTools, readOAuthSettings } from "@codex/mcp-client";
import type { CommandSandbox } from "@codex/sandbox";
import { createOwnEnvironment } from "../own-environment.js";
import { openProgramDirectory } from "../program-directory.js";
import { openCredentials } from "./logins.js";

/** What MCP servers are started with. */
export interface McpServerOptions {
  /** The environment with this id. Throws if this command does not use it; its servers are then not started. */
  getEnvironment(id: string): Environment | Promise<Environment>;
  /** Working directory in an environment, absolute; undefined: the environment's own. */
  cwdOf(id: string): string | undefined;
  /** Whether what is in the working directory on this host may be run: servers without `cwd` then start there, as in Codex. */
  isTrusted: boolean;
  /** Shared with the executor of this host; default its own. */
  sandbox?: CommandSandbox | undefined;
  /** Name of a single tool to call: only its server is started. */
  tool?: string | undefined;
  /** Passes questions of servers to the person; absent where nobody is asked. */
  askPerson?: AskPerson | undefined;
}

/** Starts the MCP servers of a configuration without waiting; those without `environment_id` on this host, as Codex. @throws McpConfigError */
export function openMcpServers(
  table: Readonly<Record<string, unknown>>,
  { getEnvironment, cwdOf, isTrusted, tool, sandbox, askPerson }: McpServerOptions,
): McpTools {
  const own = createOwnEnvironment({ sandbox });
  const cwd = cwdOf(own.id) ?? process.cwd();
  const here: McpPlace = {
    id: own.id,
    backend: own.backend,
    http: own.http,
    info: async () => ({ cwd, start: isTrusted ? cwd : openProgramDirectory() }),
  };
  const tools = openMcpTools(table, {
    defaultEnvironment: own.id,
    getEnvironment: async (id = own.id) => (id === own.id ? here : startingAtHome(await getEnvironment(id))),
    cwdOf,
    tool,
    askPerson,
    credentials: readOAuthSettings(table).store === "keyring" ? undefined : openCredentials(),
  });
  const close = async () => {
    await tools.close();
    await own.close();
  };
  return { ...tools, close };
}

/** No directory of another host is marked as trusted. */
const startingAtHome = (place: Environment): McpPlace => ({
  id: place.id,
  backend: place.backend,
  http: place.http,
  async info() {
    const { cwd, home } = await place.info();
    return { cwd, start: home };
  },
});
