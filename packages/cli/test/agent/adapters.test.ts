import { mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { fail } from "@codex/agent/testing";
import { describe, expect, it } from "vitest";
import { anthropic, chat } from "../../../model/test/ai-sdk/replies.js";
import { useCommand } from "../support.js";
import { itemsOf, setUpAgent } from "./support.js";

const command = useCommand();
const packages = fileURLToPath(new URL("../../../model/node_modules/", import.meta.url));

const patch = "*** Begin Patch\n*** Add File: a.txt\n+one\n*** End Patch";
const CALLS = [
  { id: "c1", name: "exec_command", input: JSON.stringify({ cmd: "echo marked; exit 3", login: false }) },
  { id: "c2", name: "apply_patch", input: JSON.stringify({ input: patch }) },
];

describe.each([
  ["@ai-sdk/anthropic", anthropic, "x-api-key", "key-of-the-provider"],
  ["@ai-sdk/openai-compatible", chat, "authorization", "Bearer key-of-the-provider"],
] as const)("codex exec through %s", (adapter, reply, header, key) => {
  const setUp = (script: Parameters<typeof setUpAgent>[1], isInstalled = true) =>
    setUpAgent(command, script, {
      config: 'sandbox_mode = "danger-full-access"',
      provider: `adapter = "${adapter}"\nrequest_max_retries = 1`,
    }).then((setup) => {
      const link = join(setup.home, "node_modules", adapter);
      mkdirSync(dirname(link), { recursive: true });
      if (isInstalled) symlinkSync(join(packages, adapter), link);
      return setup;
    });

  it("has the same conversation as any other", async () => {
    const script = [reply("I look.", CALLS[0]), fail(503), reply("I write.", CALLS[1]), reply("done")];
    const { endpoint, repository, run } = await setUp(script);
    const { code, stdout } = await run(["--json", "go"]);
    expect(code).toBe(0);
    const items = itemsOf(stdout).filter(({ type }) => type !== "reasoning");
    expect(items).toMatchObject([
      { type: "agent_message", text: "I look." },
      { type: "command_execution", aggregated_output: "marked\n", exit_code: 3 },
      { type: "agent_message", text: "I write." },
      { type: "file_change", status: "completed" },
      { type: "agent_message", text: "done" },
    ]);
    expect(readFileSync(join(repository, "a.txt"), "utf8")).toBe("one\n");
    expect(endpoint.requests.map(({ headers }) => headers[header])).toEqual([key, key, key, key]);
  });

  it("goes on with a thread", async () => {
    const { endpoint, run } = await setUp([reply("first"), reply("second")]);
    await run(["one"]);
    expect((await run(["resume", "--last", "two"])).stdout.toString()).toBe("second\n");
    expect(endpoint.requests[1]?.text).toMatch(/one[\s\S]*first[\s\S]*two/);
  });

  it("says how it is installed where it is not, and asks nothing", async () => {
    const { endpoint, run } = await setUp([reply("never")], false);
    const { code, stderr } = await run(["go"]);
    expect([code, endpoint.requests.length]).toEqual([1, 0]);
    expect(stderr).toContain(`npm install --prefix`);
  });
});
