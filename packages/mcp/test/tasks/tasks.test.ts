import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { listenMcp } from "@codex/mcp/http";
import { describe, expect, it, onTestFinished } from "vitest";
import { listRunning, open, textOf } from "../support.js";

const EXTENSION = "io.modelcontextprotocol/tasks";
const REVISION = "2026-07-28";

interface Answer {
  status: number;
  error?: { code: number; message: string };
  result?: Record<string, unknown>;
}

/** The official client has no tasks: requests are made as they are on the wire. */
async function listen(options: Parameters<typeof open>[0] = {}) {
  const { orchestrator, servers } = await open({ maxHoldMs: 300, ...options });
  const listener = await listenMcp(servers);
  onTestFinished(() => listener.close());
  const request = async (method: string, params: Record<string, unknown>, name?: string, extensions?: object) => {
    const _meta = {
      "io.modelcontextprotocol/protocolVersion": REVISION,
      "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
      "io.modelcontextprotocol/clientCapabilities": {
        elicitation: { form: {} },
        extensions: extensions ?? { [EXTENSION]: {} },
      },
    };
    const response = await fetch(listener.url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": REVISION,
        "mcp-method": method,
        ...(name === undefined ? {} : { "mcp-name": name }),
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { ...params, _meta } }),
    });
    const { result, error } = (await response.json()) as Answer; // a JSON-RPC response
    return { status: response.status, result: result ?? {}, error };
  };
  const exec = (cmd: string, more: object = {}, extensions?: object) => {
    const params = { name: "exec_command", arguments: { cmd, yield_time_ms: 30_000, ...more } };
    return request("tools/call", params, "exec_command", extensions);
  };
  const about = (method: string, taskId: unknown, more: object = {}) =>
    request(`tasks/${method}`, { taskId, ...more }, String(taskId));
  const getStatus = async (taskId: unknown) => (await about("get", taskId)).result.status;
  return { orchestrator, servers, request, exec, about, getStatus };
}

function temporary(): string {
  const directory = mkdtempSync(join(tmpdir(), "codex-mcp-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  return directory;
}

describe("a call of a client that can poll tasks", () => {
  it("is a plain result if it is quick, or if the client cannot poll", async () => {
    const patient = await listen({ maxHoldMs: 60_000 });
    expect((await patient.exec("true")).result.resultType).toBe("complete");
    const { exec } = await listen();
    const held = await exec("exec cat", { stdin: "open" }, {});
    expect(held.result.resultType).toBe("complete");
    expect(textOf(held.result)).toMatch(/running with session ID/);
  });

  it("becomes a task when it is held too long, whose result is that of the call", async () => {
    const { exec, about, getStatus } = await listen();
    const { result } = await exec("sleep 0.8; echo done; exit 3");
    expect(result).toMatchObject({ resultType: "task", status: "working", pollIntervalMs: 1_000 });
    for (const time of [result.createdAt, result.lastUpdatedAt]) expect(time).toMatch(/^20\d\d-\d\d-\d\dT.*Z$/);
    await expect.poll(() => getStatus(result.taskId)).toBe("completed");
    const task = await about("get", result.taskId);
    expect(task.result).toMatchObject({ resultType: "complete", result: { isError: false } });
    expect(textOf(Object(task.result.result))).toMatch(/Process exited with code 3\n.*Output:\ndone\n$/s);
  });

  it("becomes a task while its approval is open, and runs once what was accepted", async () => {
    const file = join(temporary(), "ran");
    const { exec, about, getStatus } = await listen({ approvalPolicy: "untrusted" });
    const { result } = await exec(`echo once >> ${file}`);
    expect(result).toMatchObject({ resultType: "task" });
    await expect.poll(() => getStatus(result.taskId)).toBe("input_required");
    const asked = await about("get", result.taskId);
    const [[key, question] = []] = Object.entries(Object(asked.result.inputRequests));
    expect(question).toMatchObject({ method: "elicitation/create" });
    const inputResponses = { [String(key)]: { action: "accept", content: { decision: "accept" } } };
    expect((await about("update", result.taskId, { inputResponses: { other: {} } })).result.resultType).toBe(
      "complete",
    );
    expect(existsSync(file)).toBe(false);
    await about("update", result.taskId, { inputResponses });
    await about("update", result.taskId, { inputResponses });
    await expect.poll(() => getStatus(result.taskId)).toBe("completed");
    expect(readFileSync(file, "utf8")).toBe("once\n");
  });

  it.each([{ action: "decline" }, { action: "accept", content: { decision: "other" } }, { action: "cancel" }])(
    "runs nothing when the answer is %j",
    async (answer) => {
      const file = join(temporary(), "ran");
      const { exec, about, getStatus } = await listen({ approvalPolicy: "untrusted" });
      const { result } = await exec(`touch ${file}`);
      await expect.poll(() => getStatus(result.taskId)).toBe("input_required");
      const [key] = Object.keys(Object((await about("get", result.taskId)).result.inputRequests));
      await about("update", result.taskId, { inputResponses: { [String(key)]: answer } });
      await expect.poll(() => getStatus(result.taskId)).toBe("completed");
      expect(existsSync(file)).toBe(false);
    },
  );

  it("ends its wait when the task is cancelled: its program runs on, and what was not approved does not run", async () => {
    const { exec, about, getStatus, orchestrator } = await listen();
    const { result } = await exec("echo up; exec cat", { stdin: "open" });
    expect((await about("cancel", result.taskId)).result).toMatchObject({ resultType: "complete" });
    expect(await getStatus(result.taskId)).toBe("cancelled");
    // Without tasks, so that a slow machine makes none.
    const next = async () => textOf((await exec("true", {}, {})).result);
    await expect.poll(next).toMatch(/^Note: an earlier call was cancelled/);
    expect(await listRunning(orchestrator, "executor")).toHaveLength(1);
    expect((await about("cancel", result.taskId)).result).toMatchObject({ resultType: "complete" });
  });

  it("is refused for unknown tasks, other names and clients that cannot poll", async () => {
    const { request, about } = await listen();
    for (const method of ["get", "cancel"]) {
      expect((await about(method, "unknown")).error).toMatchObject({ code: -32602 });
    }
    const { status, error } = await request("tasks/get", { taskId: "one" }, "another");
    expect([status, error?.code]).toEqual([400, -32020]);
    expect((await request("tasks/get", { taskId: "one" }, "one", {})).error).toMatchObject({ code: -32021 });
  });

  it("is held like others when there are too many tasks", async () => {
    const { exec, about } = await listen({ approvalPolicy: "untrusted" });
    const created = await Promise.all(Array.from({ length: 68 }, () => exec("touch /dev/null")));
    const kinds = created.map(({ result }) => result.resultType);
    expect(kinds.filter((kind) => kind === "task")).toHaveLength(64);
    expect(kinds.filter((kind) => kind === "input_required")).toHaveLength(4);
    expect((await exec("touch /dev/null")).result.resultType).toBe("input_required");
    const task = created.find(({ result }) => result.resultType === "task");
    expect((await about("get", task?.result.taskId)).result.status).toBe("input_required");
  });
});
