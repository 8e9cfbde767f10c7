// A tool of your own, with validated arguments. The executor announces it to the orchestrator, which needs no registration.
import assert from "node:assert/strict";
import { arch, cpus, platform } from "node:os";
import { defineTool } from "@codex/executor";
import { createLocalOrchestrator } from "@codex/local";
import * as z from "zod";

const describeHost = defineTool({
  name: "describe_host",
  description: "Tells what this host is.",
  inputSchema: z.strictObject({ cpus: z.boolean().default(false).describe("Count the CPUs as well.") }),
  execute: (args) => ({
    text: `${platform()} ${arch()}${args.cpus ? `, ${cpus().length} CPUs` : ""}`,
    structured: { platform: platform(), arch: arch() },
  }),
});

const orchestrator = await createLocalOrchestrator({ tools: [describeHost] });
assert.ok(orchestrator.listTools().some((tool) => tool.name === "describe_host"));

const result = await orchestrator.callTool("describe_host", { cpus: true });
console.log(result.text);
assert.match(result.text, /\d+ CPUs$/);

const wrong = await orchestrator.callTool("describe_host", { cpus: "all" });
assert.equal(wrong.isError, true);
assert.match(wrong.text, /field `cpus`: expected true or false, got "all"/);

const unknown = await orchestrator.callTool("describe_moon", {});
assert.equal(unknown.isError, true);

await orchestrator.close();
