import * as protocol from "@codex/executor-protocol";
import { expect, test } from "vitest";

test("pins the exported names", () => {
  expect(Object.keys(protocol).sort()).toEqual([
    "BYTES_PER_TOKEN",
    "CALL_VARIABLES",
    "EXECUTOR_PROTOCOL_VERSION",
    "EXECUTOR_SUBPROTOCOL",
    "PARSE_CONTEXT",
    "SESSION_TOOL_RESULTS",
    "STANDARD_TOOLS",
    "UNKNOWN_SESSION",
    "ackSchema",
    "byteRangeSchema",
    "callToolRequestSchema",
    "callToolResponseSchema",
    "cancelToolRequestSchema",
    "capabilitySchema",
    "createTunnelClose",
    "createTunnelPiece",
    "decodeOutputHead",
    "deliverTunnelMessage",
    "encodeOutputHead",
    "endedBySchema",
    "envPolicySchema",
    "errorMessageSchema",
    "estimateTokens",
    "execApprovalRequirementSchema",
    "execCommandRequestSchema",
    "execGateSchema",
    "execPolicyAmendmentSchema",
    "execServerAckSchema",
    "execServerClosedSchema",
    "execServerPieceSchema",
    "executorMessageSchema",
    "executorToolSpecSchema",
    "formatArgumentProblem",
    "formatProblem",
    "hostInfoSchema",
    "initializeRequestSchema",
    "initializeResponseSchema",
    "listToolsRequestSchema",
    "listToolsResponseSchema",
    "omittedRangeSchema",
    "openExecServerRequestSchema",
    "openExecServerResponseSchema",
    "orchestratorMessageSchema",
    "outputPositionSchema",
    "outputStreamSchema",
    "parseExecCommandRequest",
    "parseExecutorMessage",
    "parseOrchestratorMessage",
    "parseWriteStdinRequest",
    "presentResult",
    "processOutcomeSchema",
    "recordedOutputSchema",
    "renderFailure",
    "renderOutcome",
    "renderOutput",
    "requestIdSchema",
    "sandboxModeSchema",
    "sandboxPermissionsSchema",
    "sandboxSchema",
    "sandboxSupportSchema",
    "sessionExitedSchema",
    "sessionSignalSchema",
    "shutdownRequestSchema",
    "shutdownResponseSchema",
    "styledScreenSchema",
    "terminalSizeSchema",
    "toolCallContentSchema",
    "toolCallOutcomeSchema",
    "toolContractSchema",
    "toolOutputSchema",
    "toolsChangedSchema",
    "unansweredCallSchema",
    "unifiedExecResultSchema",
    "waitEndedSchema",
    "waitUntilSchema",
    "whenFullSchema",
    "writeStdinRequestSchema",
  ]);
});

test("pins the values of the protocol", () => {
  expect(protocol.EXECUTOR_PROTOCOL_VERSION).toBe("1");
  expect(protocol.capabilitySchema.def.entries).toEqual({
    tool_output: "tool_output",
    cancel_tool: "cancel_tool",
    session_exited: "session_exited",
    resume: "resume",
    flow_control: "flow_control",
    binary_output: "binary_output",
    concurrent_input: "concurrent_input",
    exec_server: "exec_server",
    clients: "clients",
    exec_gate: "exec_gate",
  });
  expect(Object.keys(protocol.toolContractSchema.def.entries)).toEqual([
    "unified_exec.exec_command",
    "unified_exec.write_stdin",
  ]);
  expect(Object.keys(protocol.sandboxPermissionsSchema.def.entries)).toEqual([
    "use_default",
    "require_escalated",
    "with_additional_permissions",
  ]);
  expect(Object.keys(protocol.endedBySchema.def.entries)).toEqual([
    "self",
    "terminate",
    "timeout",
    "prune",
    "shutdown",
    "oom",
    "sandbox",
    "unknown",
  ]);
  expect(Object.keys(protocol.sessionSignalSchema.def.entries)).toEqual(["interrupt", "terminate", "kill", "hangup"]);
  expect(Object.keys(protocol.whenFullSchema.def.entries)).toEqual(["pause", "spill", "drop"]);
  expect(Object.keys(protocol.outputStreamSchema.def.entries)).toEqual(["stdout", "stderr", "pty"]);
});

test("the message types are these, per direction", () => {
  const typesOf = (options: readonly { shape: { type: { def: { values: readonly unknown[] } } } }[]) =>
    options.map((option) => option.shape.type.def.values[0]);
  expect(typesOf(protocol.orchestratorMessageSchema.def.options)).toEqual([
    "list_tools",
    "call_tool",
    "shutdown",
    "initialize",
    "cancel_tool",
    "ack",
    "open_exec_server",
    "exec_server",
    "exec_server_ack",
    "exec_server_closed",
  ]);
  expect(typesOf(protocol.executorMessageSchema.def.options)).toEqual([
    "list_tools_response",
    "call_tool_response",
    "shutdown_response",
    "error",
    "initialize_response",
    "tools_changed",
    "tool_output",
    "session_exited",
    "open_exec_server_response",
    "exec_server",
    "exec_server_ack",
    "exec_server_closed",
  ]);
});
