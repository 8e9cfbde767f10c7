import { setImmediate as nextTurn } from "node:timers/promises";
import type { Channel, Received } from "@codex/channel";
import {
  EXECUTOR_PROTOCOL_VERSION,
  type HostInfo,
  type OrchestratorMessage,
  parseOrchestratorMessage,
} from "@codex/executor-protocol";
import type { Calls } from "./calls.js";
import type { Outbox } from "./outbox.js";
import { quote } from "./text.js";
import type { ToolRegistry } from "./tool-registry.js";
import { SESSION_TOOLS } from "./tools/tools.js";

export interface LoopContext {
  channel: Channel;
  outbox: Outbox;
  calls: Calls;
  registry: ToolRegistry;
  /** Of this orchestrator's life with the executor. */
  connectionId: string;
  getHost: () => Promise<HostInfo>;
}

type Handled = "go on" | "shut down";
type InitializeMessage = Extract<OrchestratorMessage, { type: "initialize" }>;

/**
 * Takes messages until `shutdown`, which is answered, or the end of the channel. What cannot be read is answered with an
 * `error` and changes nothing. An answer that the orchestrator does not take holds the loop back.
 */
export async function receiveMessages(context: LoopContext): Promise<void> {
  for (let count = 1; ; count++) {
    const received = await context.channel.receive();
    if (received === undefined || (await handleReceived(received, context)) === "shut down") return;
    // An orchestrator that floods must not keep timers and processes waiting.
    if (count % MESSAGES_PER_TURN === 0) await nextTurn();
  }
}

/** Messages handled before everything else gets its turn. */
const MESSAGES_PER_TURN = 64;

async function handleReceived(received: Received, context: LoopContext): Promise<Handled> {
  if (received.kind === "malformed") return refuse(context, null, received.problem);
  const parsed = parseOrchestratorMessage(received.value);
  if (parsed.kind === "unknown") {
    return refuse(context, parsed.requestId, `unknown message type \`${quote(parsed.type)}\``);
  }
  if (parsed.kind === "invalid") return refuse(context, parsed.requestId, `invalid message: ${parsed.problem}`);
  return handleMessage(parsed.message, context);
}

async function handleMessage(message: OrchestratorMessage, context: LoopContext): Promise<Handled> {
  const { calls, outbox, registry } = context;
  const { requestId } = message;
  if (message.type !== "cancel_tool" && calls.has(requestId)) {
    return refuse(context, requestId, `request id \`${quote(requestId)}\` belongs to a call that is under way`);
  }
  switch (message.type) {
    case "list_tools": {
      const tools = [...SESSION_TOOLS.values(), ...registry.list()].map(({ spec }) => spec);
      const problem = await outbox.send({ type: "list_tools_response", requestId, tools });
      return problem === undefined ? "go on" : refuse(context, requestId, `the tools could not be listed: ${problem}`);
    }
    case "call_tool":
      await calls.start(message);
      return "go on";
    case "cancel_tool":
      calls.cancel(requestId);
      return "go on";
    case "initialize":
      return initialize(message, context);
    case "shutdown":
      // Not awaited: an orchestrator that does not read must not keep its sessions alive.
      void outbox.send({ type: "shutdown_response", requestId });
      return "shut down";
  }
}

async function initialize({ requestId, resumeSessionId }: InitializeMessage, context: LoopContext): Promise<Handled> {
  const { outbox, connectionId, getHost } = context;
  if (outbox.isLive()) return refuse(context, requestId, "`initialize` was answered before");
  if (resumeSessionId !== undefined && resumeSessionId !== null) {
    const problem = `unknown resumeSessionId \`${quote(resumeSessionId)}\`: there are no sessions to resume`;
    return refuse(context, requestId, problem);
  }
  const host = await getHost();
  // After the answer, so that nothing unasked comes before it.
  const answered = outbox.send({
    type: "initialize_response",
    requestId,
    protocolVersion: EXECUTOR_PROTOCOL_VERSION,
    sessionId: connectionId,
    capabilities: ["tool_output", "cancel_tool", "session_exited"],
    host,
  });
  outbox.initialize();
  await answered;
  return "go on";
}

/** Answers what could not be read or done as a request; the channel stays open. */
async function refuse({ outbox }: LoopContext, requestId: string | null, message: string): Promise<Handled> {
  await outbox.send({ type: "error", requestId, message });
  return "go on";
}
