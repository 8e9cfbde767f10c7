import * as z from "zod/mini";
import { outsideProfileSchema } from "./exec-gate.js";
import { hostActivitySchema, networkProtocolSchema } from "./managed-network.js";
import { processOutcomeSchema } from "./outcome.js";
import { sandboxSupportSchema } from "./sandbox.js";
import { countSchema, keySchema, nullable, processIdSchema } from "./scalars.js";
import { executorToolSpecSchema, toolCallOutcomeSchema } from "./tools.js";
import {
  execServerAckSchema,
  execServerClosedSchema,
  execServerPieceSchema,
  openExecServerRequestSchema,
  openExecServerResponseSchema,
} from "./tunnel.js";

/** The version this package speaks; `initialize` carries it in both directions. */
export const EXECUTOR_PROTOCOL_VERSION = "1";

/** Names this protocol in the handshake of a websocket (`Sec-WebSocket-Protocol`); optional for both ends. */
export const EXECUTOR_SUBPROTOCOL = "codex.executor.v1";

/** Chosen by the sender of a request; the response echoes it. */
export const requestIdSchema = keySchema;

/** Asks for the tools; answered by `list_tools_response`. */
export const listToolsRequestSchema = z.object({ type: z.literal("list_tools"), requestId: requestIdSchema });
/** W3C trace context of a call. An invalid one counts as none. */
const traceContextSchema = z.object({
  traceparent: z.optional(z.nullable(z.string())),
  tracestate: z.optional(z.nullable(z.string())),
});
/** Calls a tool; answered by `call_tool_response` with the same `requestId`. */
export const callToolRequestSchema = z.object({
  type: z.literal("call_tool"),
  requestId: requestIdSchema,
  toolName: z.string(),
  arguments: z.unknown(),
  /** Whose sessions the call may see; default `own`. Not part of the arguments, which come from a model. */
  sessionScope: z.optional(z.enum(["own", "executor"])),
  /** The client of the call: its sessions are not visible to calls for other clients. With capability `clients`; up to 128 characters. */
  client: z.optional(z.string().check(z.minLength(1), z.maxLength(128))),
  /** A repeat gets the first result; for tools whose arguments have no key of their own. */
  idempotencyKey: z.optional(keySchema),
  /** Increases with each call of one `sessionId`: a call with a number that has arrived before is a repeat, however old. */
  sequence: z.optional(z.int().check(z.positive())),
  trace: z.optional(traceContextSchema),
});
/** Ends every session of the connection; answered by `shutdown_response`. */
export const shutdownRequestSchema = z.object({ type: z.literal("shutdown"), requestId: requestIdSchema });
/** A byte offset in a session's output. */
export const outputPositionSchema = z.object({ processId: processIdSchema, offset: countSchema });
/** A session, and the offset of the first byte of its output that is not known to have been received. */
export type OutputPosition = z.infer<typeof outputPositionSchema>;

/** A call that has not been responded to. */
export const unansweredCallSchema = z.object({
  requestId: requestIdSchema,
  sequence: z.optional(z.int().check(z.positive())),
});
/** A call that has not been responded to. */
export type UnansweredCall = z.infer<typeof unansweredCallSchema>;

/** Optional first message; without it the base messages apply and no notifications are sent. */
export const initializeRequestSchema = z.object({
  type: z.literal("initialize"),
  requestId: requestIdSchema,
  clientName: z.string(),
  protocolVersion: z.string(),
  resumeSessionId: z.optional(z.nullable(z.string())),
  /** With `resumeSessionId`: increases with each attempt to resume. One that is not above the last is refused as late. */
  attempt: z.optional(z.int().check(z.positive())),
  /** The orchestrator will send `ack`: what it has not acknowledged can be sent again after a resume. */
  acknowledges: z.optional(z.boolean()),
  /** Live output waits for `ack`, also where nothing can be sent again: a slow reader of one call does not delay others. */
  flowControl: z.optional(z.boolean()),
  /** Live output may be sent in binary frames on this channel. */
  binaryOutput: z.optional(z.boolean()),
  /** Results of the standard tools are sent without text: this end renders it from `structured`. Default false. */
  structuredResults: z.optional(z.boolean()),
  /** Questions about programs are answered: capability `program_questions`. Default false. */
  answersPrograms: z.optional(z.boolean()),
  /** Questions about hosts are answered: capability `host_questions`. Default false. */
  answersHosts: z.optional(z.boolean()),
  /** With `resumeSessionId`: the pending calls. Absent: each whose result was not acknowledged. */
  unanswered: z.optional(z.array(unansweredCallSchema)),
  /** With `resumeSessionId`: abandoned calls whose result was not received. */
  givenUp: z.optional(z.array(requestIdSchema)),
  /** With `resumeSessionId`: how much live output was received. Default for a session not named: what was acknowledged. */
  received: z.optional(z.array(outputPositionSchema)),
});
/** Ends the wait of the call with this `requestId`; its session keeps running, and its id is in the response. */
export const cancelToolRequestSchema = z.object({ type: z.literal("cancel_tool"), requestId: requestIdSchema });
/** Has no response. These results, and live output up to these offsets, were received and need not be retained. */
export const ackSchema = z.object({
  type: z.literal("ack"),
  answers: z.optional(z.array(requestIdSchema)),
  output: z.optional(z.array(outputPositionSchema)),
});

/** Opens the exec gate of the host, which the first command with `execGate` does otherwise; answered by `open_exec_gate_response`. */
export const openExecGateRequestSchema = z.object({ type: z.literal("open_exec_gate"), requestId: requestIdSchema });
/** Has no response. Answers a `program_question`; one that is withdrawn, or unknown, is ignored. */
export const programAnswerSchema = z.object({
  type: z.literal("program_answer"),
  questionId: keySchema,
  /** `run`: in its sandbox, if it has one. `outside`: where the question says. Everything else refuses it. `unasked`: nobody could be asked. `unanswered`: in time. `end`: its session is ended as well. */
  decision: z.enum(["run", "outside", "declined", "unasked", "unanswered", "end"]),
});
/** What may become of a program that waits. */
export type ProgramAnswer = z.infer<typeof programAnswerSchema>["decision"];

/** What becomes of a program that waits: it runs in its sandbox, or where its question says, or is refused for this reason. */
export type ProgramVerdict = Exclude<ProgramAnswer, "end">;

/** Has no response. Answers a `host_question`; one that is withdrawn, or unknown, is ignored. */
export const hostAnswerSchema = z.object({
  type: z.literal("host_answer"),
  questionId: keySchema,
  /**
   * `allow`: to this command, from now on. `allow_for_session`: to all of its network. Everything else denies it, `declined` from now on. `unasked`: nobody could be
   * asked. `unanswered`: in time. `end`: its session is ended as well.
   */
  decision: z.enum(["allow", "allow_for_session", "declined", "unasked", "unanswered", "end"]),
});
/** What may become of a connection that waits. */
export type HostAnswer = z.infer<typeof hostAnswerSchema>["decision"];
/** What becomes of a connection that waits. */
export type HostVerdict = Exclude<HostAnswer, "end">;

/** Messages from an orchestrator to an executor, by `type`. */
export const orchestratorMessageSchema = z.discriminatedUnion("type", [
  listToolsRequestSchema,
  callToolRequestSchema,
  shutdownRequestSchema,
  initializeRequestSchema,
  cancelToolRequestSchema,
  ackSchema,
  openExecGateRequestSchema,
  programAnswerSchema,
  hostAnswerSchema,
  openExecServerRequestSchema,
  execServerPieceSchema,
  execServerAckSchema,
  execServerClosedSchema,
]);
/** A message from an orchestrator to an executor. */
export type OrchestratorMessage = z.infer<typeof orchestratorMessageSchema>;

/** The tools of an executor, in the order in which they were added. */
export const listToolsResponseSchema = z.object({
  type: z.literal("list_tools_response"),
  requestId: requestIdSchema,
  tools: z.array(executorToolSpecSchema),
});
/** The outcome of a call. */
export const callToolResponseSchema = z.object({
  type: z.literal("call_tool_response"),
  requestId: requestIdSchema,
  toolName: z.string(),
  outcome: toolCallOutcomeSchema,
});
/** Answers `shutdown`; the channel closes once every session has ended. */
export const shutdownResponseSchema = z.object({ type: z.literal("shutdown_response"), requestId: requestIdSchema });
/** Whether the programs of commands can be judged and compared with what was judged; `reason` if they cannot. */
export const openExecGateResponseSchema = z.object({
  type: z.literal("open_exec_gate_response"),
  requestId: requestIdSchema,
  holds: z.boolean(),
  reason: z.optional(z.string()),
});
/** The response to an invalid request; the channel stays open. */
export const errorMessageSchema = z.object({
  type: z.literal("error"),
  requestId: nullable(z.string()),
  message: z.string(),
  /**
   * `taken_over`: the connection was resumed over another channel, and this one ends. `late_attempt`: a newer attempt to
   * resume came before this one.
   */
  code: z.optional(z.string()),
});

/** The capabilities that this version supports. On the wire `capabilities` is a list of arbitrary strings. */
export const capabilitySchema = z.enum([
  "tool_output",
  "cancel_tool",
  "session_exited",
  "resume",
  "flow_control",
  "binary_output",
  "concurrent_input",
  "exec_server",
  "clients",
  "detached",
  "exec_gate",
  "limits",
  "program_questions",
  "managed_network",
  "host_questions",
  "host_reports",
  "network_routes",
]);
/** What an executor may offer beyond the base messages; unknown names are ignored. */
export type Capability = z.infer<typeof capabilitySchema>;

/** The executor's host as the orchestrator needs it to resolve a call. */
export const hostInfoSchema = z.object({
  /** `linux`, `darwin` or `win32`. */
  os: z.string(),
  arch: z.string(),
  shell: z.object({ name: z.string(), path: z.string() }),
  cwd: z.string(),
  home: z.string(),
  user: z.string(),
  /**
   * Places below the home directory (`~/.config`), and the absolute paths that the executor's environment replaces each with.
   * Absent: none, or unknown.
   */
  movedPaths: z.optional(z.record(z.string(), z.array(z.string()))),
  /** Absent: this executor does not support sandboxes. */
  sandbox: z.optional(sandboxSupportSchema),
});
/** The host of an executor, as `initialize_response` describes it. */
export type HostInfo = z.infer<typeof hostInfoSchema>;

/** Answers `initialize`: the version, the connection id for a resume, capabilities and host. */
export const initializeResponseSchema = z.object({
  type: z.literal("initialize_response"),
  requestId: requestIdSchema,
  protocolVersion: z.string(),
  sessionId: z.string(),
  capabilities: z.array(z.string()),
  host: hostInfoSchema,
  /** With capability `flow_control`: as `resume.ackBytes`. */
  ackBytes: z.optional(z.int().check(z.positive())),
  /** With capability `resume`. */
  resume: z.optional(
    z.object({
      /** How long sessions and calls are kept after the channel was lost, milliseconds. */
      graceMs: countSchema,
      /** Live output must be acknowledged at least once per this many bytes, over all sessions. */
      ackBytes: z.int().check(z.positive()),
      /** After a resume: calls of `unanswered` that never arrived. They must be sent again unchanged. */
      resend: z.optional(z.array(requestIdSchema)),
      /** After a resume: the largest `sequence` that arrived; those of further calls are larger. */
      lastSequence: z.optional(countSchema),
      /** After a resume: the largest `attempt` that was made. */
      lastAttempt: z.optional(countSchema),
    }),
  ),
});
/** Notification: the tools have changed, and must be listed again. */
export const toolsChangedSchema = z.object({ type: z.literal("tools_changed") });
/** Where a byte of output came from: one of two pipes, or a terminal. */
export const outputStreamSchema = z.enum(["stdout", "stderr", "pty"]);
/** Where a byte of output came from: one of two pipes, or a terminal. */
export type OutputStream = z.infer<typeof outputStreamSchema>;
/** Live output of a call; `chunk` is base64, `offset` the byte offset of its first byte in the session's log. */
export const toolOutputSchema = z.object({
  type: z.literal("tool_output"),
  requestId: requestIdSchema,
  processId: processIdSchema,
  seq: z.int().check(z.positive()),
  offset: countSchema,
  stream: outputStreamSchema,
  chunk: z.string(),
});
/** Notification: the process of a session has ended. Sent after the response that names the session. */
export const sessionExitedSchema = z.object({
  type: z.literal("session_exited"),
  processId: processIdSchema,
  outcome: processOutcomeSchema,
});

/**
 * A program that a command starts waits for `program_answer`. Repeated after a resume. Until it is answered or withdrawn, no window and no time limit of
 * its session passes.
 */
export const programQuestionSchema = z.object({
  type: z.literal("program_question"),
  questionId: keySchema,
  processId: processIdSchema,
  /** `execGate.questions.key` of the command. */
  key: keySchema,
  /** Its file, or the path by which it was called. */
  program: z.string(),
  /** Its words; cut, where they are long. */
  argv: z.readonly(z.array(z.string())),
  /** Set where `argv` is not all of its words: an answer to this question covers no other one. */
  isCut: z.optional(z.boolean()),
  /** Where it would run, as its caller sees it. */
  cwd: z.optional(z.string()),
  /** The id of the rule that asks. */
  rule: z.string(),
  /** Where it could run outside of its sandbox; absent where it can only run inside. */
  outside: z.optional(outsideProfileSchema),
});
/** A program that waits to be started until somebody has decided about it. */
export type ProgramQuestion = Pick<
  z.infer<typeof programQuestionSchema>,
  "program" | "argv" | "isCut" | "cwd" | "rule" | "outside"
>;
/** A connection of a command waits for `host_answer`. Repeated after a resume. Meanwhile no window and no time limit of its session passes. */
export const hostQuestionSchema = z.object({
  type: z.literal("host_question"),
  questionId: keySchema,
  processId: processIdSchema,
  /** `network.questions.key` of the command. */
  key: keySchema,
  host: z.string(),
  port: z.int(),
  protocol: networkProtocolSchema,
});
/** A connection that waits until somebody has decided about its host. */
export type HostQuestion = Pick<z.infer<typeof hostQuestionSchema>, "host" | "port" | "protocol">;
/**
 * Notification: what a command with `network.reports` has done about hosts since its start; entries that have not changed since the last report are left
 * out, except after a resume. `omitted`: decisions about more kinds of connections than are told apart.
 */
export const hostReportSchema = z.object({
  type: z.literal("host_report"),
  key: keySchema,
  hosts: z.array(hostActivitySchema),
  omitted: z.int().check(z.nonnegative()),
});
/** Notification: the answer to a question is not needed any more. */
export const questionWithdrawnSchema = z.object({
  type: z.literal("question_withdrawn"),
  questionId: keySchema,
});

/** Messages from an executor to an orchestrator, by `type`. */
export const executorMessageSchema = z.discriminatedUnion("type", [
  listToolsResponseSchema,
  callToolResponseSchema,
  shutdownResponseSchema,
  openExecGateResponseSchema,
  errorMessageSchema,
  initializeResponseSchema,
  toolsChangedSchema,
  toolOutputSchema,
  sessionExitedSchema,
  programQuestionSchema,
  hostQuestionSchema,
  hostReportSchema,
  questionWithdrawnSchema,
  openExecServerResponseSchema,
  execServerPieceSchema,
  execServerAckSchema,
  execServerClosedSchema,
]);
/** A message from an executor to an orchestrator. */
export type ExecutorMessage = z.infer<typeof executorMessageSchema>;
