import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createThreadStore } from "@codex/agent/node";
import { functionCall, type ReceivedRequest, respond, say, startScriptedEndpoint } from "@codex/agent/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { startAgent } from "../turn/support.js";

/** The real client; without it these tests are skipped. */
const { CODEX_BINARY = "" } = process.env;

const call = functionCall("c1", "exec_command", { cmd: "echo marked" });
const idsOf = ({ body }: ReceivedRequest) =>
  body.input.flatMap(({ call_id }) => (call_id === undefined ? [] : [call_id]));

async function runClient(home: string, args: readonly string[], replies: Parameters<typeof startScriptedEndpoint>[0]) {
  const endpoint = await startScriptedEndpoint(replies);
  const config = `model = "gpt-5"
model_provider = "scripted"
approval_policy = "never"
[model_providers.scripted]
name = "Scripted"
base_url = "${endpoint.url}"
wire_api = "responses"
`;
  writeFileSync(join(home, "config.toml"), config);
  const flags = ["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"];
  const env = { ...process.env, CODEX_HOME: home };
  const child = spawn(CODEX_BINARY, [...flags, ...args], { env, cwd: home, stdio: "ignore" });
  const [status] = (await once(child, "exit")) as [number];
  await endpoint.close();
  return { status, requests: endpoint.requests };
}

describe.skipIf(CODEX_BINARY === "")("threads of Codex", () => {
  function createHome() {
    const home = mkdtempSync(join(realpathSync(tmpdir()), "codex-home-"));
    onTestFinished(() => rmSync(home, { recursive: true, force: true }));
    return { home, store: createThreadStore({ home, version: "test" }) };
  }

  it("are resumed here", async () => {
    const { home, store } = createHome();
    const { requests, status } = await runClient(home, ["do it"], [respond(call), say("done")]);
    expect(status).toBe(0);
    const { meta } = await store.findLast(home);
    const { saved, file } = await store.open(meta.id);
    const { agent, endpoint } = await startAgent([say("ok")]);
    const thread = await agent.resumeThread(saved, { recorder: file });
    await thread.run("and then?").result;
    await file.close();
    const sent = endpoint.requests[0]!;
    expect(idsOf(sent)).toEqual(idsOf(requests[1]!));
    expect(sent.body.prompt_cache_key).toBe(requests[0]!.body.prompt_cache_key);
    expect(JSON.stringify(sent.body.input)).toContain("marked");
  });

  it.each([undefined, "--last"])("are resumed there when they were begun here (%s)", async (named) => {
    const { home, store } = createHome();
    const { id, file } = await store.create({ cwd: home, modelProvider: "scripted" });
    const { agent, endpoint } = await startAgent([respond(call), say("done")]);
    await agent.startThread({ id, recorder: file }).run("do it").result;
    await file.close();
    // By its id, and as the last thread of the directory.
    const { requests, status } = await runClient(home, ["resume", named ?? id, "and then?"], [say("ok")]);
    expect(status).toBe(0);
    expect(idsOf(requests[0]!)).toEqual(idsOf(endpoint.requests[1]!));
    expect(requests[0]!.body.prompt_cache_key).toBe(id);
    const { saved, file: reopened } = await store.open(id);
    await reopened.close();
    expect(JSON.stringify(saved.items)).toContain("and then?");
  });
});
