// A tool call of a face against the same call of `callTool`: `true`, from the call to what the model would read.
import { acpTerminals } from "@codex/acp";
import { codexTools as createAiTools } from "@codex/ai-sdk";
import { createLocalOrchestrator } from "@codex/local";
import { createMcpServers } from "@codex/mcp";
import { codexSession, codexTools as createOpenAiTools } from "@codex/openai-agents";
import { Client, InMemoryTransport } from "@modelcontextprotocol/client";
import { RunContext } from "@openai/agents";
import { interleave, median, printTable } from "./harness.mjs";

const ROUNDS = 200;
const ARGS = { cmd: "true", shell: "/bin/sh", login: false };

export async function run() {
  const policy = { approvalPolicy: "never", sandbox: "danger-full-access" };
  const orchestrator = await createLocalOrchestrator({ policy });
  const mcp = await openMcp(orchestrator);
  const subjects = {
    callTool: () => orchestrator.callTool("exec_command", ARGS),
    "ai-sdk": createAiCall(orchestrator),
    "openai-agents, tool": createOpenAiCall(orchestrator),
    "openai-agents, session": createSessionCall(orchestrator),
    "mcp, in memory": () => mcp.callTool({ name: "exec_command", arguments: ARGS }),
    startCommand: () => orchestrator.startCommand({ argv: ["true"] }).ended,
    "acp, create and wait": createTerminalCall(orchestrator),
  };
  await interleave(subjects, 20);
  const times = await interleave(subjects, ROUNDS);
  const direct = median(times.callTool);
  const rows = Object.entries(times).map(([name, values]) => ({
    name,
    "median ms": +median(values).toFixed(3),
    "added ms": +(median(values) - direct).toFixed(3),
    ratio: +(median(values) / direct).toFixed(2),
  }));
  printTable(`a tool call by face, ${ROUNDS} rounds`, rows);
  await mcp.close();
  await orchestrator.close();
}

function createAiCall(orchestrator) {
  const { exec_command: tool } = createAiTools(orchestrator);
  return async () => {
    let output;
    for await (output of tool.execute(ARGS, { toolCallId: "1", messages: [] }));
    return tool.toModelOutput({ toolCallId: "1", input: ARGS, output });
  };
}

function createOpenAiCall(orchestrator) {
  const tool = createOpenAiTools(orchestrator).find(({ name }) => name === "exec_command");
  const context = new RunContext();
  return () => tool.invoke(context, JSON.stringify(ARGS));
}

function createSessionCall(orchestrator) {
  const session = codexSession(orchestrator);
  return () => session.execCommand(ARGS);
}

function createTerminalCall(orchestrator) {
  const terminals = acpTerminals(orchestrator);
  return async () => {
    const { terminalId } = await terminals.create({ sessionId: "s", command: "true" });
    await terminals.waitForExit({ sessionId: "s", terminalId });
    await terminals.release({ sessionId: "s", terminalId });
  };
}

async function openMcp(orchestrator) {
  const [near, far] = InMemoryTransport.createLinkedPair();
  await createMcpServers(orchestrator).create({ era: "legacy" }).connect(far);
  const client = new Client({ name: "bench", version: "1.0.0" });
  await client.connect(near);
  return client;
}
