import { createMemoryChannelPair } from "@codex/channel";
import { describe, expect, it } from "vitest";
import { RawClient, startParams, useServer } from "../support.js";

const FAMILIES = [
  ["process/start", startParams("p", ["true"]), "exec"],
  ["process/read", { processId: "p" }, "exec"],
  ["process/write", { processId: "p", chunk: "", writeId: "1" }, "exec"],
  ["process/signal", { processId: "p", signal: "interrupt" }, "exec"],
  ["process/terminate", { processId: "p" }, "exec"],
  ["process/resize", { processId: "p", rows: 1, cols: 1 }, "exec"],
  ["process/closeStdin", { processId: "p" }, "exec"],
  ["process/list", {}, "exec"],
  ["fs/readFile", { path: "file:///etc/hostname" }, "filesystem"],
  ["http/request", { method: "GET", url: "http://127.0.0.1:1", requestId: "r" }, "http"],
  ["environment/info", null, "environment info"],
  ["environment/status", undefined, "environment status"],
  ["environmentConfig/read", { cwd: "file:///", configPaths: [["a"]], requirementsPaths: [] }, "environment config"],
] as const;

describe("handshake", () => {
  const server = useServer();

  it.each(FAMILIES)("%s waits for both of its messages", async (method, params, family) => {
    const client = await server.connect();
    const before = (message: string) => `-32600 client must ${message} before using ${family} methods`;
    expect(await client.refusal(method, params)).toBe(before("call initialize"));
    await client.ask("initialize", { clientName: "" });
    expect(await client.refusal(method, params)).toBe(before("send initialized"));
    client.send({ method: "initialized" });
    const { error } = await client.request(method, params);
    expect(error?.message ?? "").not.toContain("before using");
  });

  it("decodes params before it looks at the state", async () => {
    const client = await server.connect();
    expect(await client.refusal("process/start", {})).toBe("-32602 missing field `processId`");
    expect(await client.refusal("environment/status", { a: 1 })).toContain("-32602");
    expect(await client.refusal("initialize")).toBe("-32602 invalid type: null, expected struct InitializeParams");
    expect(await client.refusal("initialize", { clientName: 1 })).toContain("-32602");
    expect(await client.refusal("initialized", {})).toBe(
      "-32601 exec-server stub does not implement `initialized` yet",
    );
  });

  it("tells more to a client that asks for it, and to no other", async () => {
    const start = { processId: "p", argv: ["/no/such/program"], cwd: "file:///tmp", env: {}, tty: false };
    const told = [];
    for (const more of [{ outcomes: true }, {}]) {
      const client = await server.connect();
      const { sandboxedProcess } = await client.ask("initialize", { clientName: "x", ...more });
      client.send({ method: "initialized" });
      const { error } = await client.request("process/start", start);
      told.push([sandboxedProcess, error]);
    }
    const error = { code: -32603, message: expect.stringContaining("/no/such/program") };
    expect(told).toEqual([
      [true, { ...error, data: { code: "program_not_found" } }],
      [undefined, error],
    ]);
  });

  it("tells the session, the environment and the version that the first clients look for", async () => {
    const client = await server.connect();
    const result = await client.ask("initialize", { clientName: "x", resumeSessionId: null });
    expect(result).toEqual({
      sessionId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      environmentInfo: expect.objectContaining({ executorVersion: "0.169.0" }),
      protocolVersion: "exec-server.v0",
    });
    expect(await client.refusal("initialize", { clientName: "x" })).toBe(
      "-32600 initialize may only be sent once per connection",
    );
    client.send({ method: "initialized" });
    expect(await client.ask("environment/info")).toEqual(result.environmentInfo);
  });

  it("may be tried again after an unknown session", async () => {
    const client = await server.connect();
    expect(await client.refusal("initialize", { clientName: "x", resumeSessionId: "nope" })).toBe(
      "-32600 unknown session id nope",
    );
    await client.handshake();
    expect(await client.ask("environment/status")).toEqual({ status: "ready" });
  });

  it("may be sent in one go, also when it resumes", async () => {
    const first = await server.connect();
    const sessionId = await first.handshake();
    await first.close();
    await first.served;
    const client = await server.connect();
    client.send({ id: "a", method: "initialize", params: { clientName: "x", resumeSessionId: sessionId } });
    client.send({ method: "initialized" });
    client.send({ id: "b", method: "environment/status" });
    client.send({ id: "c", method: "process/list" });
    await client.until(({ id }) => id === "c");
    expect(client.received.map(({ id, error }) => [id, error])).toEqual([
      ["a", undefined],
      ["b", undefined],
      ["c", undefined],
    ]);
  });

  it.each([
    ["a notification of another name", { method: "process/output", params: {} }],
    ["a request without an id", { method: "environment/status" }],
    ["an answer to nothing", { id: 1, result: {} }],
    ["an error to nothing", { id: 1, error: { code: 1, message: "x" } }],
  ])("ends the connection at %s", async (_name, message) => {
    const client = await server.ready();
    client.send(message);
    await client.finished;
    expect(client.received.length).toBe(1);
  });

  it("ends the connection at initialized before initialize", async () => {
    const client = await server.connect();
    client.send({ method: "initialized" });
    await client.finished;
    expect(client.received).toEqual([]);
  });
});

describe("malformed messages", () => {
  const server = useServer();

  it.each([
    [{}, "missing field `error`"],
    [[1], "expected a JSON-RPC object"],
    ["text", "expected a JSON-RPC object"],
    [{ id: null, method: "x" }, "`id` must be"],
    [{ id: 1.5, method: "x" }, "`id` must be"],
    [{ id: 1, method: "x", trace: "z" }, "`trace` must be"],
  ])("answers %j with id -1 and goes on", async (message, problem) => {
    const client = await server.connect();
    void client.channel.send(message);
    expect(await client.until(({ id }) => id === -1)).toEqual({
      id: -1,
      error: {
        code: -32600,
        message: expect.stringMatching(
          /^failed to parse websocket JSON-RPC message from exec-server websocket 192\.0\.2\.1:5: /,
        ),
      },
    });
    expect((client.received[0]!.error as { message: string }).message).toContain(problem);
    await client.handshake();
  });

  it("names stdio where it is stdio", async () => {
    const client = await server.connect("stdio");
    client.send({});
    expect(await client.until(({ id }) => id === -1)).toMatchObject({
      error: { message: "failed to parse JSON-RPC message from exec-server stdio: missing field `error`" },
    });
  });

  it("cuts off who sends them without reading the answers", async () => {
    const [near, far] = createMemoryChannelPair({ highWaterBytes: 1024 });
    const served = (await server.get()).serve(far, { transport: { kind: "websocket", peer: "192.0.2.1:5" } });
    const client = new RawClient(near, { read: false });
    server.defer(() => client.close());
    let over = false;
    void served.then(() => {
      over = true;
    });
    for (let sent = 0; !over && sent < 100_000; sent += 1) await near.send({}).catch(() => {});
    await served;
  });
});
