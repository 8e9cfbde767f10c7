// The tools of an orchestrator for Mastra, which asks its user about what the policy asks about. Mastra needs Node 22.13.
import assert from "node:assert/strict";
import { createLocalOrchestrator } from "@codex/local";

const [major, minor] = process.versions.node.split(".").map(Number);
const canRun = major > 22 || (major === 22 && minor >= 13);
if (!canRun) console.log("skipped: Mastra needs Node 22.13");
if (!canRun) process.exit(0);
process.env.MASTRA_TELEMETRY_DISABLED = "1";
const { createTool } = await import("@mastra/core/tools");

const policy = { approvalPolicy: "untrusted", sandbox: "danger-full-access" };
const orchestrator = await createLocalOrchestrator({ policy });
const approved = new Map(); // by what was asked about
const tools = orchestrator.listTools().map(({ name, description, inputSchema }) =>
  createTool({
    id: name,
    description,
    inputSchema: { ...inputSchema, additionalProperties: true }, // unknown keys are ignored here, not rejected
    async requireApproval(input) {
      const judged = await orchestrator.judge(name, input);
      if (judged.kind === "ask") approved.set(JSON.stringify(input), judged.digest);
      return judged.kind === "ask";
    },
    async execute(input, { abortSignal } = {}) {
      const digest = approved.get(JSON.stringify(input));
      approved.delete(JSON.stringify(input)); // for one call
      const grant = digest === undefined ? {} : { grant: { digest, decision: "accept", by: "client" } };
      return (await orchestrator.callTool(name, input, { signal: abortSignal, ...grant })).text;
    },
  }),
);

const exec = tools.find(({ id }) => id === "exec_command");
const input = { cmd: "printf hello; exit 3" };
assert.match(await exec.execute(input, {}), /not approved/);
assert.equal(await exec.requireApproval(input), true);
assert.match(await exec.execute(input, {}), /Process exited with code 3[\s\S]*hello$/);
await orchestrator.close();
