import {
  ackSchema,
  callToolRequestSchema,
  parseExecCommandRequest,
  parseExecutorMessage,
  parseOrchestratorMessage,
  parseWriteStdinRequest,
  writeStdinRequestSchema,
} from "@codex/executor-protocol";
import { expect, test } from "vitest";

test.each([
  [null, "expected an object, got null"],
  [[], "expected an object, got an empty array"],
  [[{ type: "shutdown" }], "expected an object, got an array"],
  ["shutdown", "expected an object, got a string"],
  [5, "expected an object, got 5"],
  [{}, "missing field `type`"],
  [{ requestType: "shutdown" }, "missing field `type`"],
  [
    { type: 5 },
    "field `type`: expected one of `list_tools`, `call_tool`, `shutdown`, `initialize`, `cancel_tool`, `ack`, `open_exec_gate`, `program_answer`, `host_answer`, `open_exec_server`, `exec_server`, `exec_server_ack`, `exec_server_closed`, got 5",
  ],
])("what is no message is invalid: %j", (value, problem) => {
  expect(parseOrchestratorMessage(value)).toEqual({ kind: "invalid", requestId: null, problem });
});

test("a type of another direction or of the future is unknown, with what could be read of its id", () => {
  expect(parseOrchestratorMessage({ type: "error", requestId: "r" })).toEqual({
    kind: "unknown",
    type: "error",
    requestId: "r",
  });
  expect(parseExecutorMessage({ type: "call_tool", requestId: 5 })).toEqual({
    kind: "unknown",
    type: "call_tool",
    requestId: null,
  });
  expect(parseExecutorMessage({ type: "__proto__" })).toEqual({ kind: "unknown", type: "__proto__", requestId: null });
  expect(parseOrchestratorMessage({ type: "" })).toEqual({ kind: "unknown", type: "", requestId: null });
});

const CALL = { type: "call_tool", requestId: "r", toolName: "t", arguments: {} };
test.each([
  {},
  { arguments: undefined },
  { arguments: null },
  { requestId: "" },
  { requestId: undefined },
  { requestId: 5 },
  { toolName: "" },
  { toolName: null },
  { sequence: 1 },
  { sequence: 0 },
  { sequence: 1.5 },
  { sequence: 2 ** 53 },
  { sequence: undefined },
  { idempotencyKey: "k" },
  { idempotencyKey: "" },
  { client: "c" },
  { client: "" },
  { sessionScope: "own" },
  { trace: {} },
  { more: 1 },
  JSON.parse('{"__proto__": {"a": 1}}') as object,
])("a call is read as its schema reads it: %j", (fields) => {
  const message = { ...CALL, ...fields };
  const { success, data } = callToolRequestSchema.safeParse(message);
  const parsed = parseOrchestratorMessage(message);
  expect(parsed.kind).toBe(success ? "ok" : "invalid");
  if (parsed.kind === "ok") expect(parsed.message).toEqual(data);
});

const INPUT = { processId: 1, input: "x", yieldTimeMs: 0, maxOutputTokens: 0 };
test.each([
  {},
  { processId: -1 },
  { processId: 1.5 },
  { processId: "1" },
  { processId: undefined },
  { input: "" },
  { input: 5 },
  { inputEncoding: "base64" },
  { inputEncoding: "hex" },
  { yieldTimeMs: -1 },
  { yieldTimeMs: undefined },
  { maxOutputTokens: 2 ** 53 },
  { writeId: "w" },
  { writeId: "" },
  { until: "written" },
  { until: "output" },
  { until: "never" },
  { concurrent: true },
  { concurrent: 1 },
  { concurrent: undefined },
  { closeStdin: true },
  { signal: "kill" },
  { resize: { rows: 1, cols: 1 } },
  { more: 1 },
])("input is read as its schema reads it: %j", (fields) => {
  const request = { ...INPUT, ...fields };
  const { success, data } = writeStdinRequestSchema.safeParse(request);
  expect(parseWriteStdinRequest(request)).toEqual(
    success ? { kind: "ok", value: data } : { kind: "invalid", problem: expect.any(String) },
  );
});

test.each([
  { output: [{ processId: 1000, offset: 2 ** 53 - 1 }] },
  { output: [] },
  { output: [{ processId: -1, offset: -0, more: 1 }], more: 1 },
  { answers: [], output: [{ processId: 1, offset: 2 }] },
  { answers: ["r"], output: [{ processId: 1, offset: 2 }] },
  { answers: [5], output: [] },
  { answers: {}, output: [] },
  { output: [{ processId: 1, offset: -1 }] },
  { output: [{ processId: 1, offset: 2 ** 53 }] },
  { output: [{ processId: 1.5, offset: 1 }] },
  { output: [{ processId: "1", offset: 1 }] },
  { output: [{ offset: 1 }] },
  { output: [null] },
  { output: { length: 0 } },
  {},
])("an acknowledgement is read as its schema reads it: %j", (fields) => {
  const message = { type: "ack", ...fields };
  const parsed = parseOrchestratorMessage(message);
  const { success, data } = ackSchema.safeParse(message);
  expect(parsed.kind).toBe(success ? "ok" : "invalid");
  if (parsed.kind === "ok") expect(parsed.message).toEqual(data);
});

test("an invalid message tells the id it answers to", () => {
  expect(parseOrchestratorMessage({ type: "call_tool", requestId: "r-9", arguments: 1 })).toEqual({
    kind: "invalid",
    requestId: "r-9",
    problem: "missing field `toolName`",
  });
  expect(parseOrchestratorMessage({ type: "shutdown", requestId: "" })).toMatchObject({
    kind: "invalid",
    requestId: null,
  });
  expect(parseOrchestratorMessage({ type: "shutdown", requestId: ["x"] })).toMatchObject({ requestId: null });
});

test("arguments are parsed with the same problems", () => {
  expect(parseWriteStdinRequest({ processId: 1, input: "", yieldTimeMs: 0, maxOutputTokens: 0 })).toMatchObject({
    kind: "ok",
  });
  expect(parseWriteStdinRequest({ input: "" })).toEqual({
    kind: "invalid",
    problem: "missing field `processId` (and 2 more)",
  });
  expect(parseExecCommandRequest("ls")).toEqual({ kind: "invalid", problem: "expected an object, got a string" });
});

test("a problem never shows what may be secret, and is short", () => {
  const secret = "hunter2";
  const long = "k".repeat(10_000);
  const values = [
    { env: { A: [secret] } },
    { env: secret },
    { env: { [long]: 1 } },
    { envPolicy: { set: { A: { secret } } } },
    { command: secret },
    { sandboxPermissions: long },
    { execApprovalRequirement: Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`${long}${n}`, secret])) },
  ];
  for (const value of values) {
    const parsed = parseExecCommandRequest({ ...VALID, ...value });
    if (parsed.kind === "ok") expect.unreachable(`accepted ${Object.keys(value)}`);
    else {
      expect(parsed.problem).not.toContain(secret);
      expect(parsed.problem.length).toBeLessThan(700);
      expect(parsed.problem).not.toContain("\n");
    }
  }
  const write = parseWriteStdinRequest({ processId: 1, input: { secret }, yieldTimeMs: 0, maxOutputTokens: 0 });
  expect(write).toEqual({ kind: "invalid", problem: "field `input`: expected a string, got an object" });
});

const VALID = {
  command: ["true"],
  cwd: "/",
  env: {},
  tty: false,
  yieldTimeMs: 0,
  maxOutputTokens: 0,
  sandboxPermissions: "use_default",
  additionalPermissionsPreapproved: false,
  execApprovalRequirement: { skip: { bypassSandbox: false } },
};

test.each([
  [{ traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", tracestate: "a=1" }, "ok"],
  [{ traceparent: null }, "ok"],
  [{ traceparent: "no trace" }, "ok"],
  [{}, "ok"],
  ["00-0af7", "invalid"],
  [{ traceparent: 5 }, "invalid"],
])("the trace %j of a call is %s", (trace, kind) => {
  expect(
    parseOrchestratorMessage({ type: "call_tool", requestId: "r", toolName: "t", arguments: {}, trace }),
  ).toMatchObject({ kind });
});
