import { afterEach, describe, expect, it } from "vitest";
import { createCountingIds, createExecutor, type ExecutorTool } from "../../src/index.js";
import { Client, errorOf, execRequest } from "../support/client.js";
import { ManualClock } from "../support/manual-clock.js";
import { createScriptedBackend } from "../support/scripted-backend.js";
import { startSession } from "../support/sessions.js";
import { TRANSPORTS } from "../support/transports.js";

const text = (value: string) => ({
  status: "success" as const,
  content: [{ type: "input_text" as const, text: value }],
});
const tool = (name: string, call: ExecutorTool["call"]): ExecutorTool => ({
  spec: { name, description: `The tool ${name}.`, inputSchema: { type: "object" } },
  call,
});

describe.each(TRANSPORTS)("an executor over $name", ({ open }) => {
  const clients: Client[] = [];
  afterEach(async () => {
    for (const client of clients.splice(0)) await client.close();
  });
  const serve = async (tools: ExecutorTool[] = []) => {
    const clock = new ManualClock();
    const backend = createScriptedBackend(clock);
    const client = new Client(createExecutor({ backend, clock, tools, ids: createCountingIds() }), await open());
    clients.push(client);
    return { client, backend, clock };
  };

  it("lists its tools, those that were added last", async () => {
    const { client } = await serve([tool("echo", async () => text(""))]);
    await client.send({ type: "list_tools", requestId: "req-1" });
    const { tools } = await client.ofType("list_tools_response", "req-1");
    expect(tools.map(({ name }) => name)).toEqual([
      "exec_command",
      "write_stdin",
      "list_sessions",
      "kill_session",
      "read_output",
      "read_screen",
      "echo",
    ]);
    expect(tools.at(-1)).toEqual({ name: "echo", description: "The tool echo.", inputSchema: { type: "object" } });
    expect(tools.map(({ contract }) => contract).slice(0, 3)).toEqual([
      "unified_exec.exec_command",
      "unified_exec.write_stdin",
      undefined,
    ]);
  });

  it("answers a call of a tool that it does not know with an error outcome", async () => {
    const { client } = await serve();
    await client.send({ type: "call_tool", requestId: "req-2", toolName: "frobnicate", arguments: { cmd: "pwd" } });
    expect(await client.ofType("call_tool_response")).toEqual({
      type: "call_tool_response",
      requestId: "req-2",
      toolName: "frobnicate",
      outcome: { status: "error", message: "unknown executor tool `frobnicate`" },
    });
  });

  it("ends its sessions at the end of the block that holds it with `await using`", async () => {
    const clock = new ManualClock();
    const backend = createScriptedBackend(clock);
    let client: Client;
    {
      await using executor = createExecutor({ backend, clock, ids: createCountingIds() });
      client = new Client(executor, await open());
      clients.push(client);
      await startSession({ client, backend, clock });
    }
    await client.served;
    expect((await backend.started(0)).outcome).toMatchObject({ kind: "signaled", by: "shutdown" });
  });

  it("acknowledges shutdown, ends its sessions and closes the channel", async () => {
    const { client, backend, clock } = await serve();
    const host = { client, backend, clock };
    const { process } = await startSession(host);
    const call = client.exec({ command: ["scripted"] });
    const running = await backend.started(1);
    await client.send({ type: "shutdown", requestId: "req-3" });
    expect(await client.ofType("shutdown_response")).toEqual({ type: "shutdown_response", requestId: "req-3" });
    await client.served;
    expect(process.outcome).toMatchObject({ kind: "signaled", by: "shutdown" });
    expect(running.outcome).toMatchObject({ kind: "signaled", by: "shutdown" });
    expect(process.disposed && running.disposed).toBe(true);
    expect((await call).result).toHaveProperty("outcome");
    expect(clock.waiting).toBe(0);
  });

  it("ends everything when the channel ends without shutdown", async () => {
    const { client, backend, clock } = await serve();
    const { process } = await startSession({ client, backend, clock });
    await client.close();
    expect(process.outcome).toMatchObject({ kind: "signaled", by: "shutdown" });
    expect(client.all("shutdown_response")).toEqual([]);
  });

  it("introduces itself", async () => {
    const { client } = await serve();
    expect(await client.initialize()).toMatchObject({
      protocolVersion: "1",
      sessionId: "connection-1",
      capabilities: ["tool_output", "cancel_tool", "session_exited", "concurrent_input", "clients"],
      host: { os: process.platform, cwd: process.cwd() },
    });
    await client.send({ type: "initialize", requestId: "again", clientName: "x", protocolVersion: "1" });
    expect(await client.ofType("error", "again")).toMatchObject({
      message: "`initialize` was already sent on this channel",
    });
  });

  it("goes on after whatever a hostile orchestrator sends", async () => {
    const { client } = await serve();
    const garbage: [value: unknown, requestId: string | null, problem: RegExp][] = [
      [null, null, /object/],
      [42, null, /object/],
      ["call_tool", null, /object/],
      [[], null, /object/],
      [{}, null, /type/],
      [{ type: 7, requestId: "g1" }, "g1", /type/],
      [{ type: "launch_missiles", requestId: "g2" }, "g2", /unknown message type `launch_missiles`/],
      [{ type: "constructor", requestId: "g3" }, "g3", /unknown message type/],
      [{ type: "x".repeat(100_000), requestId: "g4" }, "g4", /unknown message type `x{256}…`/],
      [{ type: "list_tools" }, null, /requestId/],
      [{ type: "list_tools", requestId: "" }, null, /requestId/],
      [{ type: "list_tools", requestId: 5 }, null, /requestId/],
      [{ type: "call_tool", requestId: "g5" }, "g5", /toolName/],
      [{ type: "call_tool", requestId: "g6", toolName: {}, arguments: {} }, "g6", /toolName/],
      [{ type: "call_tool", requestId: "g0", toolName: "list_sessions" }, "g0", /arguments/],
      [{ type: "initialize", requestId: "g7", protocolVersion: "1" }, "g7", /clientName/],
      [{ type: "list_tools_response", requestId: "g8", tools: [] }, "g8", /unknown message type/],
      [{ type: "__proto__", requestId: "g9" }, "g9", /unknown message type/],
    ];
    for (const [value] of garbage) await client.send(value);
    await client.call("list_sessions", {});
    const errors = client.all("error");
    expect(errors.map(({ requestId }) => requestId)).toEqual(garbage.map(([, requestId]) => requestId));
    for (const [index, [, , problem]] of garbage.entries()) expect(errors[index]?.message).toMatch(problem);
  });

  it.each([
    ["exec_command", null, /arguments of `exec_command`: /],
    ["exec_command", "ls", /arguments of `exec_command`: /],
    ["exec_command", { cmd: "ls" }, /missing field `command`/],
    ["exec_command", { ...execRequest({ command: ["x"] }), command: [] }, /command/],
    ["exec_command", { ...execRequest({ command: ["x"] }), command: ["a", 1] }, /command\[1\]/],
    ["exec_command", { ...execRequest({ command: ["x"] }), yieldTimeMs: -1 }, /yieldTimeMs/],
    ["exec_command", { ...execRequest({ command: ["x"] }), maxOutputTokens: 1.5 }, /maxOutputTokens/],
    ["exec_command", { ...execRequest({ command: ["x"] }), env: { A: 1 } }, /env/],
    ["exec_command", { ...execRequest({ command: ["x"] }), execApprovalRequirement: {} }, /execApprovalRequirement/],
    [
      "exec_command",
      { ...execRequest({ command: ["x"] }), sandbox: { mode: "read-only" } },
      /missing field `sandbox\.permissions`/,
    ],
    ["write_stdin", {}, /processId/],
    ["write_stdin", { processId: "1000", input: "", yieldTimeMs: 0, maxOutputTokens: 0 }, /processId/],
    [
      "write_stdin",
      { processId: 1, input: "", yieldTimeMs: 0, maxOutputTokens: 0, resize: { rows: 0, cols: 1 } },
      /rows/,
    ],
    ["kill_session", {}, /`session_id` is missing/],
    ["kill_session", { session_id: "1" }, /`session_id`: expected an integer of at least 0, got a string/],
    ["kill_session", [1], /expected a JSON object/],
    ["kill_session", { session_id: 1 }, /unknown session 1/],
    ["read_output", { session_id: 1 }, /unknown session 1/],
    ["read_output", { session_id: -1 }, /got -1/],
    ["read_output", { session_id: 1e300 }, /got 1e\+300/],
  ])("answers %s with arguments %j with an error outcome", async (toolName, args, problem) => {
    const { client, backend } = await serve();
    expect(errorOf(await client.call(toolName, args))).toMatch(problem);
    expect(backend.processes.length).toBe(0);
  });
});
