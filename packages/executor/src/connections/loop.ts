import { setImmediate as nextTurn } from "node:timers/promises";
import type { Channel, Received } from "@codex/channel";
import { type OrchestratorMessage, parseOrchestratorMessage } from "@codex/executor-protocol";
import { defined, quote } from "@codex/values";
import type { ExecutorTelemetry } from "../executor-telemetry.js";
import { sendOn } from "../output/outbox.js";
import type { SessionTool } from "../tools/session-tool.js";
import type { ToolRegistry } from "../tools/tool-registry.js";
import type { Connection } from "./connection.js";

/** A channel, and its connection, which the first message determines. */
export interface Attachment {
  readonly channel: Channel;
  connection: Connection | undefined;
  readonly sessionTools: ReadonlyMap<string, SessionTool>;
  readonly registry: ToolRegistry;
  /** Opens a new connection over this channel; undefined when the executor is shutting down. */
  open(): Connection | undefined;
  /** Finds a connection that can be resumed. */
  find(id: string): Connection | undefined;
  /** Reports that a connection was resumed. */
  reclaim(connection: Connection): void;
  readonly telemetry: Pick<ExecutorTelemetry, "unreadable" | "log">;
}

type Handled = "continue" | "shut down";
type InitializeMessage = Extract<OrchestratorMessage, { type: "initialize" }>;

/**
 * Handles messages until `shutdown` or the end of the channel. The response to an invalid message is an `error`; it changes
 * nothing. A response that the orchestrator does not read blocks the loop.
 */
export async function receiveMessages(attachment: Attachment): Promise<"shut down" | "lost"> {
  const { channel } = attachment;
  for (let count = 1; ; count++) {
    const received = await channel.receive();
    // Messages that arrived here before another channel replaced this one were sent again over that one, or are obsolete.
    if (received === undefined || attachment.connection?.outbox.isLatest(channel) === false) return "lost";
    if ((await handleReceived(received, attachment)) === "shut down") return "shut down";
    // A burst of messages must not keep timers and processes waiting.
    if (count % MESSAGES_PER_TURN === 0) await nextTurn();
  }
}

/** Messages handled in one turn of the event loop. */
const MESSAGES_PER_TURN = 64;

async function handleReceived(received: Received, attachment: Attachment): Promise<Handled> {
  if (received.kind === "bytes") return refuse(attachment, null, "a binary frame, where only JSON is expected");
  if (received.kind === "malformed") return refuse(attachment, null, received.problem);
  const parsed = parseOrchestratorMessage(received.value);
  if (parsed.kind === "unknown") {
    return refuse(attachment, parsed.requestId, `unknown message type \`${quote(parsed.type)}\``);
  }
  if (parsed.kind === "invalid") return refuse(attachment, parsed.requestId, `invalid message: ${parsed.problem}`);
  const { message } = parsed;
  if (message.type === "initialize" && message.resumeSessionId != null) return resume(message, attachment);
  attachment.connection ??= attachment.open();
  if (attachment.connection === undefined) {
    return refuse(attachment, "requestId" in message ? message.requestId : null, "the executor is shutting down");
  }
  return handleMessage(message, attachment.connection, attachment);
}

async function handleMessage(
  message: OrchestratorMessage,
  connection: Connection,
  attachment: Attachment,
): Promise<Handled> {
  const { calls, outbox } = connection;
  switch (message.type) {
    case "ack":
      connection.acknowledge(message.answers, message.output);
      return "continue";
    case "program_answer":
    case "host_answer":
      connection.answerQuestion(message);
      return "continue";
    case "exec_server":
    case "exec_server_ack":
    case "exec_server_closed": {
      const problem = connection.tunnels.handle(message);
      return problem === undefined ? "continue" : refuse(attachment, null, problem);
    }
  }
  const { requestId } = message;
  const isRepeat = message.type === "call_tool" && calls.isRepeat(message);
  if (message.type !== "cancel_tool" && calls.has(requestId) && !isRepeat) {
    return refuse(attachment, requestId, `request id \`${quote(requestId)}\` belongs to a call in progress`);
  }
  switch (message.type) {
    case "list_tools": {
      const tools = [...attachment.sessionTools.values(), ...attachment.registry.list()].map(({ spec }) => spec);
      const problem = await outbox.send({ type: "list_tools_response", requestId, tools });
      return problem === undefined
        ? "continue"
        : refuse(attachment, requestId, `the tools could not be listed: ${problem}`);
    }
    case "call_tool":
      await calls.start(message);
      return "continue";
    case "cancel_tool":
      calls.cancel(requestId);
      return "continue";
    case "initialize":
      if (outbox.isLive()) return refuse(attachment, requestId, "`initialize` was already sent on this channel");
      await connection.initialize(message);
      return "continue";
    case "open_exec_gate":
      // Not awaited: other requests go on meanwhile.
      void connection.openGate(requestId);
      return "continue";
    case "open_exec_server": {
      const answer = outbox.isLive() ? connection.tunnels.open(message) : "`initialize` must be sent first";
      if (typeof answer === "string") return refuse(attachment, requestId, answer);
      await outbox.send(answer);
      return "continue";
    }
    case "shutdown":
      // Not awaited: an orchestrator that does not read must not keep its sessions alive.
      void outbox.send({ type: "shutdown_response", requestId });
      return "shut down";
  }
}

async function resume(message: InitializeMessage, attachment: Attachment): Promise<Handled> {
  const { requestId, resumeSessionId } = message;
  if (attachment.connection?.outbox.isLive())
    return refuse(attachment, requestId, "`initialize` was already sent on this channel");
  if (attachment.connection !== undefined) {
    return refuse(attachment, requestId, "`resumeSessionId` must come with the first message of a channel");
  }
  const connection = attachment.find(resumeSessionId ?? "");
  const host = await connection?.describeHost();
  // It may have ended in the meantime.
  if (connection === undefined || host === undefined || !connection.isResumable) {
    const problem = `unknown resumeSessionId \`${quote(resumeSessionId ?? "")}\`: there are no sessions to resume`;
    return refuse(attachment, requestId, problem);
  }
  if (connection.isOutdated(message)) {
    return refuse(attachment, requestId, "a newer attempt to resume came before this one", "late_attempt");
  }
  attachment.connection = connection;
  attachment.reclaim(connection);
  await connection.resume(attachment.channel, message, host);
  return "continue";
}

/** Responds with an error; the channel stays open. */
async function refuse(
  { channel, telemetry }: Attachment,
  requestId: string | null,
  message: string,
  code?: string,
): Promise<Handled> {
  telemetry.unreadable.value += 1;
  telemetry.log.warn?.("message refused", { requestId: requestId === null ? undefined : quote(requestId) });
  await sendOn(channel, { type: "error", requestId, message, ...defined({ code }) });
  return "continue";
}
