import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { respond, say } from "@codex/agent/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { connect } from "../../../view/test/support/client.js";
import { send } from "../../../view/test/support/http.js";
import { eventsOf, setUpAgent, shell } from "../agent/support.js";
import { finish, useCommand } from "../support.js";

const command = useCommand();

/** The group of the first line that fits. The stream goes on flowing. */
const nextLine = (stream: Readable, pattern: RegExp): Promise<string> =>
  new Promise((resolve) => {
    let text = "";
    stream.on("data", (piece) => {
      text += String(piece);
      for (const line of text.split("\n").slice(0, -1)) {
        const found = pattern.exec(line);
        if (found !== null) resolve(found[1] ?? line);
      }
    });
  });

describe("codex exec --view", () => {
  it("shows the run, and a viewer answers what would otherwise be refused", async () => {
    const {
      run: _run,
      start,
      repository,
    } = await setUpAgent(command, [respond(shell("c1", "touch from-the-view")), say("All done.")], {
      config: 'approval_policy = "untrusted"\nsandbox_mode = "danger-full-access"',
    });
    const child = start(["--json", "--once", "--view", "Do it."]);
    child.stdin.end();
    const finished = finish(child);
    const page = await connect(await nextLine(child.stderr, /^codex: view: (http.*)$/));
    const { id } = await page.find(({ kind }) => kind === "question");
    page.say({ type: "answer", question: id, decision: "accept" });
    const { code, stdout } = await finished;
    expect(code).toBe(0);
    expect(existsSync(join(repository, "from-the-view"))).toBe(true);
    expect(eventsOf(stdout).at(-1)).toMatchObject({ type: "turn.completed" });
    await page.find((one) => one.kind === "item" && JSON.stringify(one.content).includes("All done."));
    await page.find((one) => one.kind === "item" && JSON.stringify(one.content).includes("Do it."));
  });

  it("ends the turn for a viewer, and without --once stays until the page is closed", async () => {
    const { start } = await setUpAgent(command, [respond(shell("c1", "sleep 600")), say("never")], {
      config: 'sandbox_mode = "danger-full-access"',
    });
    const child = start(["--view", "Wait."]);
    child.stdin.end();
    const page = await connect(await nextLine(child.stderr, /^codex: view: (http.*)$/));
    await page.find((one) => one.kind === "session");
    page.say({ type: "stop" });
    await page.find((one) => one.kind === "thread" && one.state === "failed");
    expect(child.exitCode).toBeNull();
    const exited = once(child, "exit");
    page.socket.close();
    expect(await exited).toEqual([1, null]);
  });
});

it("codex mcp-server --view shows what a host runs, and its audit log", async () => {
  const home = mkdtempSync(join(tmpdir(), "codex view-"));
  onTestFinished(() => rmSync(home, { recursive: true }));
  const config = 'audit.enabled = true\napproval_policy = "never"\nsandbox_mode = "danger-full-access"\n';
  writeFileSync(join(home, "config.toml"), config);
  const child = command.start(["mcp-server", "--view"], { CODEX_HOME: home });
  const exited = once(child, "exit");
  const page = await connect(await nextLine(child.stderr, /^codex: view: (http.*)$/));
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } };
  const call = { name: "exec_command", arguments: { cmd: "echo from a host", login: false } };
  for (const request of [
    { id: 1, method: "initialize", params },
    { method: "notifications/initialized" },
    { id: 2, method: "tools/call", params: call },
  ]) {
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...request })}\n`);
  }
  await page.find((one) => one.kind === "item" && JSON.stringify(one.content).includes("echo from a host"));
  await page.find(({ kind, type }) => kind === "record" && type === "call");
  await page.find(({ kind, chain }) => kind === "thread" && JSON.stringify(chain)?.includes("intact") === true);
  child.stdin.end();
  expect(await exited).toEqual([0, null]);
});

describe("codex view", () => {
  it("prints its address first, and shows sessions of an executor that somebody else has started", async () => {
    const { url } = await command.listen();
    const other = command.start(["run", "--executor", url, "--", "sh", "-c", "echo of another; exec cat"]);
    await once(other.stdout, "data");
    const view = command.start(["view", "--executor", url]);
    const page = await connect(await nextLine(view.stdout, /^(http:\/\/127\.0\.0\.1:\d+\/#[\w-]{43})$/));
    const session = await page.find(({ kind }) => kind === "session");
    expect(session).toMatchObject({ state: "running", canType: false });
    const output = new Promise<string>((resolve) => {
      page.socket.on("message", (data: Buffer, isBinary) => isBinary && resolve(data.subarray(12).toString()));
    });
    page.say({ type: "open", session: session.id, from: 0 });
    expect(await output).toBe("of another\n");
    view.kill("SIGTERM");
    expect(await once(view, "exit")).toEqual([0, null]);
    other.stdin.end();
  });

  it("replays a recording, and ends with its last page", async () => {
    const directory = mkdtempSync(join(tmpdir(), "codex view-"));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    const file = join(directory, "demo.cast");
    writeFileSync(file, '{"version":3,"term":{"cols":80,"rows":24}}\n[0.1,"o","hello"]\n');
    const view = command.start(["view", "--once", file]);
    const link = await nextLine(view.stdout, /^(http.*)$/);
    const page = await connect(link);
    expect(await page.find(({ kind }) => kind === "recording")).toMatchObject({ name: "demo.cast" });
    expect((await send(`${new URL(link).origin}/recording/1`)).status).toBe(401);
    page.socket.close();
    expect(await once(view, "exit")).toEqual([0, null]);
  });

  it("names what it cannot show", async () => {
    const missing = await command.run(["view", "/nowhere/a.cast"]);
    expect(missing).toMatchObject({ code: 1, stderr: expect.stringContaining("there is no file /nowhere/a.cast") });
    const nothing = await command.run(["view"]);
    expect(nothing).toMatchObject({ code: 2, stderr: expect.stringContaining("--executor is missing") });
  });
});
