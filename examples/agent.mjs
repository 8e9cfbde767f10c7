// An agent in 15 lines: a model that works through an orchestrator. A scripted endpoint takes the place of the model.
import assert from "node:assert/strict";
import { createAgent, createResponsesModel, resolveProvider } from "@codex/agent";
import { functionCall, respond, say, startScriptedEndpoint } from "@codex/agent/testing";
import { createLocalOrchestrator } from "@codex/local";

const call = functionCall("call_1", "exec_command", { cmd: "echo 6 files" });
const endpoint = await startScriptedEndpoint([respond(call), say("There are six files.")]);

const config = { model_provider: "mine", model_providers: { mine: { name: "Mine", base_url: endpoint.url } } };
const { provider } = resolveProvider({ config, env: process.env });
const policy = { approvalPolicy: "never", sandbox: "danger-full-access" }; // use "workspace-write" where the host has a sandbox
const orchestrator = await createLocalOrchestrator({ policy });
const agent = createAgent({ orchestrator, model: createResponsesModel({ provider }), modelName: "gpt-5.5" });
const run = agent.startThread().run("How many files are there?");
for await (const event of run) if (event.type === "item_completed") console.log(event.item.kind, event.item.status);
const { end, finalMessage } = await run.result;

assert.equal(end.type, "turn_completed");
assert.equal(finalMessage, "There are six files.");
assert.match(endpoint.requests[1].body.input.at(-1).output, /6 files/);
await orchestrator.close();
await endpoint.close();
