// A tool of one's own: anything with a JSON schema. The orchestrator learns it; nothing is registered there.
import assert from "node:assert/strict";
import { arch, cpus, platform } from "node:os";
import { createMemoryChannelPair } from "@codex/channel";
import { createExecutor } from "@codex/executor";
import { createOrchestrator } from "@codex/orchestrator";
import { createLocalBackend } from "@codex/process-host";

const describeHost = {
  spec: {
    name: "describe_host",
    description: "Tells what this host is.",
    inputSchema: { type: "object", properties: { cpus: { type: "boolean" } }, additionalProperties: false },
  },
  async call(args) {
    const text = `${platform()} ${arch()}${args.cpus ? `, ${cpus().length} CPUs` : ""}`;
    return { status: "success", content: [{ type: "input_text", text }] };
  },
};

const [ours, its] = createMemoryChannelPair();
const backend = createLocalBackend();
const executor = createExecutor({ backend, tools: [describeHost] });
const served = executor.serve(its);

const orchestrator = createOrchestrator({ policy: "never" });
await orchestrator.attach({ name: "local", channel: ours });
assert.ok(orchestrator.listTools().some((tool) => tool.name === "describe_host"));

const answer = await orchestrator.callTool("describe_host", { cpus: true });
console.log(answer.text);
assert.match(answer.text, /\d+ CPUs$/);

const unknown = await orchestrator.callTool("describe_moon", {});
assert.equal(unknown.isError, true);

await orchestrator.close();
await served;
await backend.close();
