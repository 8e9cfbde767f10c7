// The tools of an orchestrator for LangChain. The model reads the text; the artifact is the result for the program.
import assert from "node:assert/strict";
import { createLocalOrchestrator } from "@codex/local";
import { tool } from "@langchain/core/tools";

const policy = { approvalPolicy: "untrusted", sandbox: "danger-full-access" };
const asked = [];
const approver = {
  async requestApproval({ command }) {
    asked.push(command.at(-1));
    return "accept"; // ask a person here, or pass the decision of `humanInTheLoopMiddleware` on as a `grant`
  },
};
const orchestrator = await createLocalOrchestrator({ policy, approver });
const tools = orchestrator.listTools().map(({ name, description, inputSchema }) =>
  tool(
    async (input, { signal }) => {
      const result = await orchestrator.callTool(name, input, { signal });
      return [result.text, result];
    },
    // LangChain would reject unknown keys, which are ignored here.
    {
      name,
      description,
      schema: { ...inputSchema, additionalProperties: true },
      responseFormat: "content_and_artifact",
    },
  ),
);

const exec = tools.find(({ name }) => name === "exec_command");
const call = (id, args) => exec.invoke({ type: "tool_call", id, name: exec.name, args });
const { content, artifact, tool_call_id: id } = await call("1", { cmd: "printf hello; exit 3" });
assert.match(content, /Process exited with code 3[\s\S]*hello$/);
assert.deepEqual([id, artifact.structured.exitCode, artifact.status], ["1", 3, "success"]);
assert.deepEqual(asked, ["printf hello; exit 3"]);
assert.ok(tools.every(({ schema }) => schema.type === "object"));
await orchestrator.close();
