// Two environments in one thread of an agent: each call names its environment, and they have separate files.
import assert from "node:assert/strict";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAgent, createResponsesModel, resolveProvider } from "@codex/agent";
import { functionCall, lastOutput, respond, say, startScriptedEndpoint } from "@codex/agent/testing";
import { createMemoryChannelPair } from "@codex/channel";
import { createExecutor } from "@codex/executor";
import { createOrchestrator } from "@codex/orchestrator";
import { createLocalBackend } from "@codex/process-host";

// In place of two hosts: an executor for each, with its own directory.
const backend = createLocalBackend();
const policy = { approvalPolicy: "never", sandbox: "danger-full-access" };
const orchestrator = createOrchestrator({ policy, defaults: { login: false } });
const directories = {};
const serving = [];
for (const name of ["build", "test"]) {
  directories[name] = await mkdtemp(join(tmpdir(), `${name}-`));
  const [near, far] = createMemoryChannelPair();
  serving.push(createExecutor({ backend }).serve(far));
  await orchestrator.attach({ name, channel: near });
}

// The model uses one and then the other; without `environment_id` a call runs on the first.
const run = (id, environment, cmd) =>
  functionCall(id, "exec_command", { cmd, workdir: directories[environment], environment_id: environment });
const endpoint = await startScriptedEndpoint(({ body }, index) => {
  if (index === 0) return respond(run("c1", "build", "echo 1.2.3 > version; cat version"));
  if (index === 1) return respond(run("c2", "test", "ls -A | wc -l; echo tested > report"));
  return say(`It has ${lastOutput(body.input).trim().split("\n").at(-1).trim()} files there.`);
});
const config = { model_provider: "mine", model_providers: { mine: { name: "Mine", base_url: endpoint.url } } };
const { provider } = resolveProvider({ config, env: process.env });
const agent = createAgent({ orchestrator, model: createResponsesModel({ provider }), modelName: "gpt-5.5" });

const turn = agent.startThread().run("Build it, then test it on the other host.");
const places = [];
for await (const event of turn) {
  if (event.type === "item_completed" && event.item.kind === "command") places.push(event.item.environment);
}
const { end, finalMessage } = await turn.result;

assert.equal(end.type, "turn_completed");
assert.deepEqual(places, ["build", "test"]);
assert.equal(finalMessage, "It has 0 files there.");
assert.deepEqual(await readdir(directories.build), ["version"]);
assert.deepEqual(await readdir(directories.test), ["report"]);

await orchestrator.close();
await endpoint.close();
await Promise.all(serving);
await backend.close();
await Promise.all(Object.values(directories).map((directory) => rm(directory, { recursive: true })));
