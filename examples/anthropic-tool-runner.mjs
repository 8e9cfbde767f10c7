// The tools of an orchestrator in the tool runner of the Anthropic SDK. The model is a script; replace `fetch` by an API key.
import assert from "node:assert/strict";
import Anthropic from "@anthropic-ai/sdk";
import { betaTool } from "@anthropic-ai/sdk/helpers/beta/json-schema";
import { ToolError } from "@anthropic-ai/sdk/lib/tools/ToolError";
import { createLocalOrchestrator } from "@codex/local";

const orchestrator = await createLocalOrchestrator({
  policy: { approvalPolicy: "never", sandbox: "danger-full-access" },
});
const tools = orchestrator.listTools().map(({ name, description, inputSchema }) =>
  betaTool({
    name,
    description,
    inputSchema,
    async run(input, { signal }) {
      const { text, isError } = await orchestrator.callTool(name, input, { signal });
      if (isError) throw new ToolError(text); // the model reads it as an error
      return text;
    },
  }),
);
const use = (id, input) => ({ type: "tool_use", id, name: "exec_command", input });
const end = { type: "text", text: "It failed." };
const answers = [[use("1", { cmd: "echo hello; exit 3" }), use("2", { cmd: 4 })], [end]];
let sent;
const fetch = async (_url, { body }) => {
  sent = JSON.parse(body);
  const content = answers.shift();
  return Response.json({ type: "message", role: "assistant", content, stop_reason: content[0].type, usage: {} });
};
const messages = [{ role: "user", content: "Run the tests." }];
const { messages: api } = new Anthropic({ apiKey: "none", fetch }).beta;
const last = await api.toolRunner({ model: "m", max_tokens: 100, messages, tools });
assert.equal(last.content[0].text, "It failed.");
const [ran, refused] = sent.messages.at(-1).content;
assert.match(JSON.stringify(ran.content), /Process exited with code 3.*hello/);
assert.equal(refused.is_error, true);
await orchestrator.close();
