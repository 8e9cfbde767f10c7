import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { connectWebSocketChannel } from "@codex/channel/websocket";
import { describe, expect, it, onTestFinished } from "vitest";
import { codexWords, finish, useCommand } from "./support.js";

const seedArguments = {
  command: ["sh", "-c", "pwd"],
  cwd: "/",
  env: { TERM: "dumb", PATH: "/usr/bin:/bin" },
  tty: true,
  yieldTimeMs: 2_500,
  maxOutputTokens: 4_000,
  sandboxPermissions: "use_default",
  additionalPermissions: null,
  additionalPermissionsPreapproved: false,
  justification: "Need to inspect the repo",
  execApprovalRequirement: { skip: { bypassSandbox: false, proposedExecPolicyAmendment: null } },
};

describe("codex executor on stdio", () => {
  const command = useCommand();

  it("answers the base messages, and nothing else is on stdout", async () => {
    const child = command.start(["executor"]);
    const finished = finish(child);
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const say = async (message: object) => {
      child.stdin.write(`${JSON.stringify(message)}\n`);
      return JSON.parse((await lines.next()).value as string) as Record<string, unknown>;
    };
    const list = await say({ type: "list_tools", requestId: "req-1" });
    expect(list).toMatchObject({ type: "list_tools_response", requestId: "req-1" });
    expect((list.tools as { name: string }[]).map((tool) => tool.name)).toEqual([
      "exec_command",
      "write_stdin",
      "list_sessions",
      "kill_session",
      "read_output",
      "read_screen",
    ]);
    const call = await say({
      type: "call_tool",
      requestId: "req-2",
      toolName: "exec_command",
      arguments: seedArguments,
    });
    expect(call).toMatchObject({ type: "call_tool_response", requestId: "req-2", toolName: "exec_command" });
    expect(call.outcome).toMatchObject({ status: "success", content: [{ type: "input_text" }] });
    const { text } = (call.outcome as { content: [{ text: string }] }).content[0];
    expect(text).toMatch(
      /^Chunk ID: [0-9a-f]{6}\nWall time: \d+\.\d{4} seconds\nProcess exited with code 0\nOriginal token count: 1\nOutput:\n\/\r\n$/,
    );
    const unapproved = {
      ...seedArguments,
      execApprovalRequirement: { needsApproval: { reason: "sandbox", proposedExecPolicyAmendment: null } },
    };
    const refused = await say({
      type: "call_tool",
      requestId: "req-3",
      toolName: "exec_command",
      arguments: unapproved,
    });
    expect(refused.outcome).toMatchObject({ status: "error" });
    const unknown = await say({ type: "call_tool", requestId: "req-4", toolName: "x", arguments: {} });
    expect(unknown.outcome).toEqual({ status: "error", message: "unknown executor tool `x`" });
    expect(await say({ type: "shutdown", requestId: "req-5" })).toEqual({
      type: "shutdown_response",
      requestId: "req-5",
    });
    const { code, stdout, stderr } = await finished;
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout.toString().trimEnd().split("\n").length).toBe(5);
  });

  it("answers garbage, line by line, and goes on", async () => {
    const input = [
      "no json",
      '{"type":"list_tools"}',
      '{"type":"dance","requestId":"r1"}',
      '{"type":"call_tool","requestId":"r2","toolName":7}',
      "[1,2]",
      `${"[".repeat(10_000)}${"]".repeat(10_000)}`,
      '{"type":"list_tools","requestId":""}',
      Buffer.from([0xff, 0xfe, 0x00]).toString("latin1"),
      '{"type":"shutdown","requestId":"end"}',
    ].join("\n");
    const { code, stdout } = await command.run(["executor"], `${input}\n`);
    const answers = stdout
      .toString()
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { type: string; requestId: string | null });
    expect(code).toBe(0);
    expect(answers.map(({ type, requestId }) => [type, requestId])).toEqual([
      ["error", null],
      ["error", null],
      ["error", "r1"],
      ["error", "r2"],
      ["error", null],
      ["error", null],
      ["error", null], // an empty id names no request
      ["error", null],
      ["shutdown_response", "end"],
    ]);
  });

  it("ends with the end of its input, and with SIGTERM", async () => {
    expect((await command.run(["executor"])).code).toBe(0);
    const child = command.start(["executor"]);
    const finished = finish(child);
    child.stdin.write('{"type":"list_tools","requestId":"1"}\n');
    await new Promise((resolve) => child.stdout.once("data", resolve));
    child.kill("SIGTERM");
    expect((await finished).code).toBe(0);
  });

  it("keeps quiet about a stdout that is a file or closed", async () => {
    const child = command.start(["executor"]);
    child.stdout.destroy();
    child.stdin.end('{"type":"list_tools","requestId":"1"}\n');
    const [code] = (await once(child, "close")) as [number];
    expect(code).toBe(0);
  });
});

describe("codex executor on a websocket", () => {
  const command = useCommand();

  it("answers health probes without a token", async () => {
    const directory = mkdtempSync(join(tmpdir(), "codex-probe-"));
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
    const file = join(directory, "token");
    writeFileSync(file, "a-token");
    const { url } = await command.listen(["--token-file", file]);
    const ask = async (path: string) => (await fetch(new URL(path, url.replace("ws:", "http:")))).status;
    expect([await ask("/readyz"), await ask("/healthz"), await ask("/metrics")]).toEqual([200, 200, 404]);
  });

  it("lets in who has the token", async () => {
    const directory = mkdtempSync(join(tmpdir(), "codex-token-"));
    const tokenFile = join(directory, "token");
    writeFileSync(tokenFile, "secret-token\n");
    const { url } = await command.listen(["--token-file", tokenFile]);
    await expect(connectWebSocketChannel(url)).rejects.toThrow(/401|token/);
    const wrong = { headers: { authorization: "Bearer wrong" } };
    await expect(connectWebSocketChannel(url, wrong)).rejects.toThrow(/401|token/);
    const channel = await connectWebSocketChannel(url, { headers: { authorization: "Bearer secret-token" } });
    await channel.send({ type: "list_tools", requestId: "1" });
    expect(await channel.receive()).toMatchObject({ kind: "value", value: { type: "list_tools_response" } });
    await channel.close();
    const right = await command.run(["sessions", "--executor", url, "--token-file", tokenFile]);
    expect(right).toMatchObject({ code: 0, stderr: "" });
    rmSync(directory, { recursive: true });
  });

  it("refuses an origin", async () => {
    const { url } = await command.listen();
    await expect(connectWebSocketChannel(url, { headers: { origin: "http://evil.example" } })).rejects.toThrow(/403/);
  });

  it("refuses to listen beyond loopback without a token", async () => {
    const { code, stderr } = await command.run(["executor", "--listen", "ws://0.0.0.0:0"]);
    expect(code).toBe(2);
    expect(stderr).toContain("--token-file");
  });

  it("names what is wrong with an address", async () => {
    for (const url of ["http://127.0.0.1:1", "ws://127.0.0.1", "ws://127.0.0.1:70000", "ws://127.0.0.1:1/path", ""]) {
      const { code, stderr } = await command.run(["executor", "--listen", url]);
      expect(code).toBe(2);
      expect(stderr).toContain(JSON.stringify(url));
    }
  });

  it("names its protocol in the handshake of the websocket", async () => {
    const { url } = await command.listen();
    const channel = await connectWebSocketChannel(url, { subprotocols: ["codex.exec-server.v1", "codex.executor.v1"] });
    expect(channel.subprotocol).toBe("codex.executor.v1");
    await channel.close();
  });

  it("serves the next orchestrator after one has shut down", async () => {
    const { url } = await command.listen();
    for (const text of ["one", "two"]) {
      const { code, stdout } = await command.run(["run", "--executor", url, "--", "echo", text]);
      expect([code, stdout.toString()]).toEqual([0, `${text}\n`]);
    }
  });
});

describe("codex sessions", () => {
  const command = useCommand();

  it("lists, reads and ends what any orchestrator started", async () => {
    const { url } = await command.listen(["--deterministic-ids"]);
    const run = command.start(["run", "--executor", url, "--", "sh", "-c", "echo here; sleep 300"]);
    const finished = finish(run);
    await once(run.stdout, "data");
    const sessions = async (...args: string[]) => {
      const { code, stdout, stderr } = await command.run(["sessions", "--executor", url, ...args]);
      return { code, text: stdout.toString(), stderr };
    };
    expect(await sessions()).toMatchObject({
      code: 0,
      text: expect.stringMatching(/^session 1000: running, .*sleep 300/),
    });
    const list = JSON.parse((await sessions("--json")).text) as { sessions: { sessionId: number }[] };
    expect(list.sessions.map((session) => session.sessionId)).toEqual([1000]);
    expect((await sessions("--read", "1000")).text).toContain("here");
    expect((await sessions("--kill", "1000")).text).toContain("All of them are gone.");
    expect((await finished).code).toBe(143);
    expect((await sessions("--kill", "4711")).code).toBe(1);
  });
});

describe("codex executor on a far host", () => {
  const command = useCommand();

  it("runs programs on an exec-server, over stdio and over a websocket", async () => {
    const server = command.start(["exec-server"]);
    const [url] = (await once(createInterface({ input: server.stdout }), "line")) as [string];
    for (const address of [url, `${codexWords} exec-server --listen stdio`]) {
      const executor = `${codexWords} executor --exec-server "${address}"`;
      const script = "echo $0 $FAR; cat; exit 3";
      const args = ["run", "--executor", executor, "-C", "/", "-e", "FAR=away", "--", "sh", "-c", script];
      const { code, stdout, stderr } = await command.run(args, "typed");
      expect([code, stdout.toString(), stderr]).toEqual([3, "sh away\ntyped", ""]);
    }
  });

  it("says why it cannot be reached", async () => {
    const { code, stderr } = await command.run(["executor", "--exec-server", "ws://127.0.0.1:1"]);
    expect(code).toBe(1);
    expect(stderr).toContain("ws://127.0.0.1:1");
  });
});
