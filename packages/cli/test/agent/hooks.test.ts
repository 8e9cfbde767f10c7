import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { functionCall, respond, say } from "@codex/agent/testing";
import { describe, expect, it } from "vitest";
import { finish, useCommand } from "../support.js";
import { setUpAgent } from "./support.js";

const command = useCommand();
const echo = respond(functionCall("c1", "exec_command", { cmd: "echo ran > ran", login: false }));
const guard = (line: string, event = "PreToolUse") =>
  JSON.stringify({ hooks: { [event]: [{ hooks: [{ type: "command", command: line }] }] } });
const NEVER = guard("echo never >&2; exit 2");
const FREE = { config: 'sandbox_mode = "danger-full-access"' };

/** An agent whose model runs one command, and `codex hooks` for its home. */
async function setUp(config = FREE) {
  const agent = await setUpAgent(command, (_, index) => (index % 2 === 0 ? echo : say("done")), config);
  const { repository, home, env, endpoint } = agent;
  const run = (args: readonly string[]) => {
    const child = command.startIn(repository, args, env);
    child.stdin.end();
    return finish(child);
  };
  return {
    ...agent,
    run,
    hasRun: () => existsSync(join(repository, "ran")),
    lastOutput: () => JSON.stringify(endpoint.requests.at(-1)?.body.input.at(-1)),
    writeHooks: (text: string) => writeFileSync(join(home, "hooks.json"), text),
  };
}

describe("hooks", () => {
  it("run once the user has trusted them, until they are changed", async () => {
    const { run, hasRun, lastOutput, writeHooks, home } = await setUp();
    writeHooks(NEVER);
    const listed = await run(["hooks"]);
    expect(listed.stdout.toString()).toBe(
      `${home}/hooks.json:pre_tool_use:0:0\n  PreToolUse: echo never >&2; exit 2\n  does not run: untrusted\n`,
    );
    const before = readFileSync(join(home, "config.toml"), "utf8");
    const trusted = await run(["hooks", "trust", "--all"]);
    expect(trusted.stdout.toString()).toContain("trusted ");
    expect(readFileSync(join(home, "config.toml"), "utf8")).toContain(before.trimEnd());
    const guarded = await run(["exec", "go"]);
    expect(guarded.code).toBe(0);
    expect(lastOutput()).toContain("Command blocked by PreToolUse hook: never. Command: echo ran > ran");
    expect(hasRun()).toBe(false);
    writeHooks(NEVER.replace("never", "ever"));
    expect((await run(["hooks", "--json"])).stdout.toString()).toContain('"trust": "modified"');
  });

  it("that nobody has trusted do not run, which is told", async () => {
    const { run, hasRun, writeHooks } = await setUp();
    writeHooks(NEVER);
    const { stderr } = await run(["exec", "go"]);
    expect(stderr).toContain("a hook does not run, as nobody has trusted it: ");
    expect(stderr).toContain("`codex hooks trust` trusts them");
    expect(hasRun()).toBe(true);
  });

  it("of a project that is not trusted never run", async () => {
    const { run, repository, hasRun } = await setUp();
    mkdirSync(join(repository, ".codex"));
    const marked = guard(`touch '${repository}/hooked'; exit 2`);
    writeFileSync(join(repository, ".codex/hooks.json"), marked);
    const { code } = await run(["exec", "--dangerously-bypass-hook-trust", "go"]);
    expect(code).toBe(0);
    expect(hasRun()).toBe(true);
    expect(existsSync(join(repository, "hooked"))).toBe(false);
    expect((await run(["hooks", "trust", "--all"])).stderr).toContain("nothing to trust");
    await run(["exec", "--trust", "--dangerously-bypass-hook-trust", "go"]);
    expect(existsSync(join(repository, "hooked"))).toBe(true);
  });

  it("run outside of the project until that is trusted, and then in it", async () => {
    const { run, repository, home, writeHooks } = await setUp();
    writeHooks(guard(`pwd >> '${home}/pwd'`, "SessionStart"));
    await run(["exec", "--dangerously-bypass-hook-trust", "go"]);
    await run(["exec", "--trust", "--dangerously-bypass-hook-trust", "go"]);
    expect(readFileSync(join(home, "pwd"), "utf8")).toBe(`${home}\n${repository}\n`);
  });

  it("are named by the event and the audit log of what they refuse", async () => {
    const { run, home, writeHooks } = await setUp({ config: `${FREE.config}\naudit.enabled = true` });
    writeHooks(NEVER);
    const { stdout } = await run(["exec", "--json", "--dangerously-bypass-hook-trust", "go"]);
    const declined = stdout
      .toString()
      .split("\n")
      .find((line) => line.includes('"declined"'));
    expect(JSON.parse(declined ?? "{}").item).toMatchObject({
      decision: { kind: "denied", reason: "never", by: "hook" },
    });
    const log = readFileSync(join(home, "audit.jsonl"), "utf8");
    expect(log.split("\n")[0]).toMatch(/"decidedBy":"hook"/);
  });

  it("that fail refuse, and say so", async () => {
    const { run, hasRun, writeHooks } = await setUp();
    writeHooks(guard("/nowhere/hook"));
    const { stderr } = await run(["exec", "--dangerously-bypass-hook-trust", "go"]);
    expect(stderr).toMatch(/hook .*hooks\.json:pre_tool_use:0:0 failed: it exited with code 127/);
    expect(hasRun()).toBe(false);
  });

  it("stand before the calls of an MCP server as well", async () => {
    const { repository, env, hasRun, writeHooks, home } = await setUp();
    writeHooks(NEVER);
    const child = command.startIn(home, ["hooks", "trust", "--all"], env);
    child.stdin.end();
    await finish(child);
    const server = command.startIn(repository, ["mcp-server", "--approval-policy", "never"], env);
    const send = (message: object) => server.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
    const answered = new Promise<string>((resolve) => {
      let text = "";
      server.stdout.on("data", (bytes: Buffer) => {
        text += bytes.toString();
        const line = text.split("\n").find((each) => each.includes('"id":2'));
        if (line !== undefined && text.endsWith("\n")) resolve(line);
      });
    });
    const client = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "t", version: "1" } };
    send({ id: 1, method: "initialize", params: client });
    send({ method: "notifications/initialized" });
    send({ id: 2, method: "tools/call", params: { name: "exec_command", arguments: { cmd: "echo ran > ran" } } });
    expect(await answered).toContain("Command blocked by PreToolUse hook: never. Command: echo ran > ran");
    server.stdin.end();
    await finish(server);
    expect(hasRun()).toBe(false);
  });

  it.each([
    [["hooks", "trust"], 2, "needs keys of `codex hooks`, or --all"],
    [["hooks", "trust", "--all", "x"], 2, "needs keys of `codex hooks`, or --all"],
    [["hooks", "trust", "/f:stop:0:0"], 1, 'there is no hook "/f:stop:0:0"'],
  ])("are not trusted by %j", async (args, code, message) => {
    const { run } = await setUp();
    expect(await run(args)).toMatchObject({ code, stderr: expect.stringContaining(message) });
  });
});
