import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { functionCall, respond, say, startScriptedEndpoint } from "@codex/agent/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { finish, useCommand } from "./support.js";

const command = useCommand();

async function setUp() {
  const call = functionCall("c1", "exec_command", { cmd: "echo marked", login: false });
  const endpoint = await startScriptedEndpoint([respond(call), say("done")]);
  const root = mkdtempSync(join(realpathSync(tmpdir()), "codex threads-"));
  onTestFinished(async () => {
    await endpoint.close();
    rmSync(root, { recursive: true, force: true });
  });
  const cwd = join(root, "work");
  mkdirSync(cwd);
  const config = `model_provider = "mine"\nmodel = "test-model"\n[model_providers.mine]\nname = "Mine"\nbase_url = "${endpoint.url}"\n`;
  writeFileSync(join(root, "config.toml"), config);
  return async (...args: string[]) => {
    const child = command.startIn(cwd, args, { CODEX_HOME: root });
    child.stdin.end();
    const { code, stdout, stderr } = await finish(child);
    return { code, stdout: stdout.toString(), stderr };
  };
}

describe("codex threads", () => {
  it("lists a thread, and shows its turns, calls and tokens", async () => {
    const run = await setUp();
    expect((await run("threads", "list")).stderr).toContain("no thread of this directory");
    expect((await run("threads", "list", "--all")).stderr).toBe("codex: there is no thread\n");
    expect((await run("exec", "--skip-git-repo-check", "say it")).code).toBe(0);
    const listed = JSON.parse((await run("threads", "list", "--json")).stdout) as { id: string; prompt: string }[];
    expect(listed).toMatchObject([{ prompt: "say it", environment: "local" }]);
    const id = listed[0]!.id;
    expect(await run("exec", "resume")).toMatchObject({ code: 2, stderr: expect.stringContaining(id) });
    const shown = JSON.parse((await run("threads", "show", id, "--json")).stdout) as object;
    expect(shown).toMatchObject({
      id,
      usage: { inputTokens: 20, outputTokens: 10 },
      turns: [{ prompt: "say it", outcome: "completed", responses: [{ calls: [{ name: "exec_command" }] }, {}] }],
    });
    const { stdout } = await run("threads", "show", id);
    expect(stdout).toMatch(/exec_command echo marked \(on local, [\d.]+ m?s, answered with \d+ bytes/);
    expect(stdout).toMatch(/total: 1 turn in .*, 1 call in .*, 20 tokens in \(4 cached\), 10 out/);
  });

  it("names a thread that is unknown", async () => {
    const run = await setUp();
    const { code, stderr } = await run("threads", "show", "019f8a94-3df8-7351-ad7a-e2aa42eea02c");
    expect(code).toBe(1);
    expect(stderr).toContain("019f8a94-3df8-7351-ad7a-e2aa42eea02c");
  });
});
