// A tool of the agent itself, which does not run on an executor. Its calls are reported as events, like all calls.
import assert from "node:assert/strict";
import { createAgent, createResponsesModel, resolveProvider } from "@codex/agent";
import { functionCall, respond, say, startScriptedEndpoint } from "@codex/agent/testing";
import { createLocalOrchestrator } from "@codex/local";

const tickets = new Map([["T-1", "The login page is blank."]]);
const readTicket = {
  spec: {
    name: "read_ticket",
    description: "Reads a ticket.",
    inputSchema: {
      type: "object",
      properties: { id: { type: "string" } },
      required: ["id"],
      additionalProperties: false,
    },
  },
  // The arguments come from a model and are not validated.
  async call({ id }) {
    const text = typeof id === "string" ? tickets.get(id) : undefined;
    return text === undefined ? { output: `There is no ticket ${id}.`, status: "failed" } : { output: text };
  },
};

const calls = [functionCall("c1", "read_ticket", { id: "T-1" }), functionCall("c2", "read_ticket", { id: "T-2" })];
const endpoint = await startScriptedEndpoint([respond(...calls), say("The login page has to be mended.")]);
const config = { model_provider: "mine", model_providers: { mine: { name: "Mine", base_url: endpoint.url } } };
const { provider } = resolveProvider({ config, env: process.env });
const orchestrator = await createLocalOrchestrator();
const model = createResponsesModel({ provider });
const agent = createAgent({ orchestrator, model, modelName: "gpt-5.5", tools: [readTicket] });

const run = agent.startThread().run("What is T-1 about?");
const seen = [];
for await (const event of run) {
  if (event.type === "item_completed" && event.item.kind === "tool_call") seen.push(event.item.status);
}
assert.equal((await run.result).finalMessage, "The login page has to be mended.");
assert.deepEqual(seen.sort(), ["completed", "failed"]);
const outputs = endpoint.requests[1].body.input.slice(-2).map(({ output }) => output);
assert.deepEqual(outputs, ["The login page is blank.", "There is no ticket T-2."]);
assert.ok(endpoint.requests[0].body.tools.some(({ name }) => name === "read_ticket"));

await orchestrator.close();
await endpoint.close();
