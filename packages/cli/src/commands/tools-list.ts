import { mentionsKey } from "@codex/config";
import { createProgramRunner, type ModelTool } from "@codex/orchestrator";
import { attachExecutor, type ConnectOptions, choosePlace } from "../connect.js";
import { CommandError, EXIT } from "../exit-codes.js";

/** Prints the tools of an executor, a line each. */
export async function runToolsList(options: ConnectOptions & { json?: boolean }): Promise<void> {
  const tools = await listTools(options);
  if (options.json) return printJson(tools.map(({ name, description }) => ({ name, description })));
  const width = Math.max(...tools.map((tool) => tool.name.length));
  for (const { name, description } of tools) print(`${name.padEnd(width)}  ${description.split("\n")[0]}`);
}

/** Prints the tools, or one of them, as they are sent to a model. */
export async function runToolsSpec(name: string | undefined, options: ConnectOptions): Promise<void> {
  const tools = await listTools(options);
  printJson(name === undefined ? tools : findTool(tools, name));
}

async function listTools(options: ConnectOptions): Promise<readonly ModelTool[]> {
  const chosen = await choosePlace(options);
  const orchestrator = createProgramRunner();
  let end: (() => Promise<void>) | undefined;
  try {
    await attachExecutor(orchestrator, "executor", options, { withoutSandbox: true }, chosen);
    if (mentionsKey("mcp_servers"))
      end = await (await import("../mcp/attach-mcp-tools.js")).attachMcpTools(orchestrator, chosen);
    return orchestrator.listTools();
  } finally {
    await orchestrator.close();
    await end?.();
    await chosen?.close();
  }
}

/** @throws CommandError with the names of the tools there are */
export function findTool(tools: readonly ModelTool[], name: string): ModelTool {
  const tool = tools.find((candidate) => candidate.name === name);
  if (tool !== undefined) return tool;
  const known = tools.map((candidate) => candidate.name).join(", ");
  throw new CommandError(`the executor has no tool ${JSON.stringify(name)}; it has ${known}`, EXIT.usage);
}

export const print = (line: string) => void process.stdout.write(line.endsWith("\n") ? line : `${line}\n`);
export const printJson = (value: unknown) => print(JSON.stringify(value, null, 2));
