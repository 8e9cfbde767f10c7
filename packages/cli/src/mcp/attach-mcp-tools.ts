import { loadUserConfig } from "@codex/config";
import type { McpTools } from "@codex/mcp-client";
import type { Orchestrator } from "@codex/orchestrator";
import type { ChosenEnvironment } from "../environments.js";
import { say } from "../notice.js";
import { openMcpServers } from "./mcp-servers.js";
import { createTerminalQuestions } from "./terminal-questions.js";

/**
 * Adds the tools of all configured MCP servers to an orchestrator, or only starts the server of one tool, and waits for them. Reports
 * problems of servers on stderr. The caller closes them. @throws McpServerError, McpConfigError
 */
export async function attachMcpTools(
  orchestrator: Pick<Orchestrator, "attach">,
  chosen: ChosenEnvironment | undefined,
  tool?: string,
): Promise<McpTools> {
  const { table, project } = await loadUserConfig({});
  const mcp = openMcpServers(table, {
    getEnvironment(id) {
      if (chosen?.environment.id === id) return chosen.environment;
      throw new Error(`environment \`${id}\` is not the one of this command; --environment ${id} uses it`);
    },
    cwdOf: (id) => (id === "local" ? process.cwd() : undefined),
    isTrusted: project.trust === "trusted",
    tool,
    askPerson: process.stdin.isTTY && process.stderr.isTTY ? createTerminalQuestions() : undefined,
  });
  try {
    await mcp.attachTo(orchestrator, { waitsForAll: true });
  } catch (error) {
    await mcp.close();
    throw error;
  }
  for (const warning of mcp.takeWarnings()) say(warning);
  return mcp;
}
