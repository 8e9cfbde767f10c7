import { mentionsKey } from "@codex/config";
import type { McpServerState, McpTools } from "@codex/mcp-client";
import { createProgramRunner, type ModelTool } from "@codex/orchestrator";
import { attachExecutor, type ConnectOptions, choosePlace } from "../connect.js";
import { CommandError, EXIT } from "../exit-codes.js";
import { printJson, printLine } from "../notice.js";

/** Prints the tools of an executor, a line each. */
export async function runToolsList(options: ConnectOptions & { json?: boolean }): Promise<void> {
  const tools = await listTools(options);
  if (options.json) return void printJson(tools.map(({ name, description }) => ({ name, description })));
  const width = Math.max(...tools.map((tool) => tool.name.length));
  for (const { name, description } of tools) printLine(`${name.padEnd(width)}  ${summarize(description)}`);
}

/** Prints the tools, or one of them, as they are sent to a model. */
export async function runToolsSpec(name: string | undefined, options: ConnectOptions): Promise<void> {
  const tools = await listTools(options);
  printJson(name === undefined ? tools : findTool(tools, name));
}

async function listTools(options: ConnectOptions): Promise<readonly ModelTool[]> {
  const chosen = await choosePlace(options);
  const orchestrator = createProgramRunner();
  let mcp: McpTools | undefined;
  try {
    await attachExecutor(orchestrator, "executor", options, { withoutSandbox: true }, chosen);
    if (mentionsKey("mcp_servers"))
      mcp = await (await import("../mcp/attach-mcp-tools.js")).attachMcpTools(orchestrator, chosen);
    return orchestrator.listTools();
  } finally {
    await orchestrator.close();
    await mcp?.close();
    await chosen?.close();
  }
}

/** The first sentence of a description, on one line. */
function summarize(description: string): string {
  const [line = ""] = description.split("\n");
  const sentence = /^.*?[.!?](?=\s|$)/.exec(line)?.[0] ?? line;
  return sentence.length <= MAX_SUMMARY ? sentence : `${sentence.slice(0, MAX_SUMMARY - 1)}…`;
}

/** Characters of a description in a list; `tools spec` has all of it. */
const MAX_SUMMARY = 120;

/** @throws CommandError with the names of the available tools, or with the state of the MCP server that would have the tool */
export function findTool(tools: readonly ModelTool[], name: string, servers?: Pick<McpTools, "findServer">): ModelTool {
  const tool = tools.find((candidate) => candidate.name === name);
  if (tool !== undefined) return tool;
  const known = tools.map((candidate) => candidate.name).join(", ");
  const server = name.startsWith("mcp__") ? ` (${describeServer(servers?.findServer(name))})` : "";
  throw new CommandError(`there is no tool ${JSON.stringify(name)}${server}; there are ${known}`, EXIT.usage);
}

function describeServer(server: McpServerState | undefined): string {
  if (server === undefined) return "config.toml has no MCP server for it";
  if (server.status === "ready") return `MCP server \`${server.name}\` has none of this name`;
  if (server.status === "disabled") return `MCP server \`${server.name}\` is disabled`;
  return `MCP server \`${server.name}\` is not running`;
}
