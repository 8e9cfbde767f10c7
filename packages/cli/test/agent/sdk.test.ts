import { existsSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fail, respond, type Script, say } from "@codex/agent/testing";
import { Codex, type CodexOptions, type ThreadEvent } from "@openai/codex-sdk";
import { describe, expect, it } from "vitest";
import { codex as binary, useCommand } from "../support.js";
import { setUpAgent, shell } from "./support.js";

const command = useCommand();

/** The SDK as it is published, with our command in place of its own. */
async function startSdk(script: Script, options: CodexOptions = {}) {
  const setup = await setUpAgent(command, script);
  const env = { PATH: `${dirname(process.execPath)}:${process.env.PATH}`, HOME: setup.home, ...setup.env };
  const sdk = new Codex({ codexPathOverride: binary, env, ...options });
  return { ...setup, sdk, thread: { workingDirectory: setup.repository } };
}

const input = (request: { body: { input: readonly object[] } } | undefined) => JSON.stringify(request?.body.input);

describe("the TypeScript SDK of Codex 0.163.0", () => {
  it("runs a turn, goes on with its thread, and resumes it", async () => {
    const script = [respond(shell("c1", "echo one; exit 3")), say("first"), say("second"), say("third")];
    const { endpoint, sdk, thread: options } = await startSdk(script);
    const thread = sdk.startThread(options);
    const turn = await thread.run("hello");
    expect(turn.finalResponse).toBe("first");
    expect(turn.items).toMatchObject([
      { type: "command_execution", aggregated_output: "one\n", exit_code: 3, status: "failed" },
      { type: "agent_message", text: "first" },
    ]);
    expect(turn.usage).toEqual({
      input_tokens: 20,
      cached_input_tokens: 4,
      cache_write_input_tokens: 0,
      output_tokens: 10,
      reasoning_output_tokens: 2,
    });
    const id = thread.id;
    expect((await thread.run("again")).finalResponse).toBe("second");
    const resumed = sdk.resumeThread(id ?? "", options);
    expect((await resumed.run("once more")).finalResponse).toBe("third");
    expect([thread.id, resumed.id]).toEqual([id, id]);
    expect(input(endpoint.requests[3])).toMatch(/hello[\s\S]*first[\s\S]*again[\s\S]*second[\s\S]*once more/);
  });

  it("streams events", async () => {
    const { sdk, thread } = await startSdk([respond(shell("c1", "echo one")), say("done")]);
    const { events } = await sdk.startThread(thread).runStreamed("go");
    const seen: string[] = [];
    for await (const event of events) seen.push(event.type);
    expect(seen).toEqual([
      "thread.started",
      "turn.started",
      "item.started",
      "item.completed",
      "item.completed",
      "turn.completed",
    ]);
  });

  it("aborts a turn, and what it runs", async () => {
    const { repository, sdk, thread } = await startSdk([respond(shell("c1", "touch began; sleep 1000; touch ended"))]);
    const stop = new AbortController();
    const { events } = await sdk.startThread(thread).runStreamed("go", { signal: stop.signal });
    const drain = async () => {
      for await (const event of events) {
        if (event.type === "item.started") stop.abort();
      }
    };
    await expect(drain()).rejects.toMatchObject({ name: "AbortError" });
    expect(existsSync(join(repository, "ended"))).toBe(false);
  });

  it("throws what a turn failed of", async () => {
    const { sdk, thread } = await startSdk(() => fail(400, { error: { message: "no such thing" } }));
    await expect(sdk.startThread(thread).run("go")).rejects.toThrow(/no such thing/);
  });

  it("sends images and a schema, and gives the answer to it", async () => {
    const { endpoint, repository, sdk, thread } = await startSdk([say('{"answer":42}')]);
    const image = join(repository, "a.png");
    writeFileSync(
      image,
      Buffer.from(
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
        "base64",
      ),
    );
    const schema = { type: "object", properties: { answer: { type: "number" } }, required: ["answer"] };
    const { finalResponse } = await sdk.startThread(thread).run(
      [
        { type: "text", text: "What is" },
        { type: "text", text: "in it?" },
        { type: "local_image", path: image },
      ],
      { outputSchema: schema },
    );
    expect(JSON.parse(finalResponse)).toEqual({ answer: 42 });
    expect(input(endpoint.requests[0])).toContain("What is\\n\\nin it?");
    expect(input(endpoint.requests[0])).toContain("data:image/png;base64,");
    expect(endpoint.requests[0]?.body.text).toMatchObject({ format: { type: "json_schema", schema } });
  });

  it("passes all its options on", async () => {
    const script = [respond(shell("c1", "pwd; echo $FOR_COMMANDS")), say("done")];
    const { endpoint, home, repository, env, sdk } = await startSdk(script);
    const configured = new Codex({
      codexPathOverride: binary,
      env: { PATH: `${dirname(process.execPath)}:${process.env.PATH}`, HOME: home, ...env, FOR_COMMANDS: "given" },
      config: { model_verbosity: "high", shell_environment_policy: { inherit: "all" } },
    });
    expect(sdk).toBeDefined();
    const thread = configured.startThread({
      model: "other-model",
      threadSource: "user",
      sandboxMode: "danger-full-access",
      workingDirectory: home,
      skipGitRepoCheck: true,
      modelReasoningEffort: "high",
      networkAccessEnabled: true,
      webSearchMode: "disabled",
      approvalPolicy: "on-request",
      additionalDirectories: [repository],
    });
    const { items } = await thread.run("go", { cyberAccessProgram: "standard" });
    expect(items[0]).toMatchObject({ aggregated_output: `${realpathSync(home)}\ngiven\n` });
    expect(endpoint.requests[0]?.body).toMatchObject({
      model: "other-model",
      reasoning: { effort: "high" },
      text: { verbosity: "high" },
    });
    expect(endpoint.requests[0]?.headers.originator).toBe("codex_sdk_ts");
  });

  it("takes an address and a key for OpenAI", async () => {
    const { endpoint, home } = await startSdk([say("done")]);
    const env = {
      PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
      HOME: home,
      CODEX_HOME: join(home, "none"),
    };
    const sdk = new Codex({ codexPathOverride: binary, env, baseUrl: endpoint.url, apiKey: "key-of-the-sdk" });
    const thread = sdk.startThread({ workingDirectory: home, skipGitRepoCheck: true });
    expect((await thread.run("go")).finalResponse).toBe("done");
    expect(endpoint.requests[0]?.headers.authorization).toBe("Bearer key-of-the-sdk");
  });

  it("gets no event that its types do not have", async () => {
    const { sdk, thread } = await startSdk([respond(shell("c1", "rm -rf /nowhere")), say("done")]);
    const { events } = await sdk.startThread(thread).runStreamed("go");
    const known = new Set<ThreadEvent["type"]>([
      "thread.started",
      "turn.started",
      "turn.completed",
      "turn.failed",
      "item.started",
      "item.updated",
      "item.completed",
      "error",
    ]);
    for await (const event of events) expect(known).toContain(event.type);
  });
});
