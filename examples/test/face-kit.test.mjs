// The tools of the snippets, as they stand in the examples, give their stacks the text of `callTool` byte for byte.
import { readFileSync } from "node:fs";
import { createLocalOrchestrator } from "@codex/local";
import { checkFace, FACE_CASES } from "@codex/local/testing";
import { describe, it } from "vitest";

/** The expression that makes the tools of an example, as a function of what it uses. */
function readTools(example, ...names) {
  const source = readFileSync(new URL(`../${example}.mjs`, import.meta.url), "utf8");
  const [, expression] = /^const tools = ([\s\S]*?\n\));$/m.exec(source) ?? [];
  if (expression === undefined) throw new Error(`examples/${example}.mjs has no \`const tools = …\``);
  return new Function("orchestrator", ...names, `return ${expression}`);
}

const [major, minor] = process.versions.node.split(".").map(Number);

/** Stacks: each makes a face of an orchestrator. */
const STACKS = {
  async "anthropic-tool-runner"() {
    const { default: Anthropic } = await import("@anthropic-ai/sdk");
    const { betaTool } = await import("@anthropic-ai/sdk/helpers/beta/json-schema");
    const { ToolError } = await import("@anthropic-ai/sdk/lib/tools/ToolError");
    const createTools = readTools("anthropic-tool-runner", "betaTool", "ToolError");
    return (orchestrator) => ({
      async call(name, input) {
        const answers = [[{ type: "tool_use", id: "1", name, input }], [{ type: "text", text: "done" }]];
        let sent;
        const fetch = async (_url, { body }) => {
          sent = JSON.parse(body);
          const content = answers.shift();
          return Response.json({
            type: "message",
            role: "assistant",
            content,
            stop_reason: content[0].type,
            usage: {},
          });
        };
        const { messages: api } = new Anthropic({ apiKey: "none", fetch }).beta;
        const messages = [{ role: "user", content: "go" }];
        await api.toolRunner({
          model: "m",
          max_tokens: 1,
          messages,
          tools: createTools(orchestrator, betaTool, ToolError),
        });
        const [{ content, is_error: isError = false }] = sent.messages.at(-1).content;
        return { text: typeof content === "string" ? content : content.map(({ text }) => text).join(""), isError };
      },
    });
  },
  async langchain() {
    const { tool } = await import("@langchain/core/tools");
    const createTools = readTools("langchain", "tool");
    return (orchestrator) => ({
      async call(name, args) {
        const found = createTools(orchestrator, tool).find((each) => each.name === name);
        return { text: (await found.invoke({ type: "tool_call", id: "1", name, args })).content };
      },
    });
  },
  async mastra() {
    process.env.MASTRA_TELEMETRY_DISABLED = "1";
    const { createTool } = await import("@mastra/core/tools");
    const createTools = readTools("mastra", "createTool", "approved");
    return (orchestrator) => ({
      async call(name, args) {
        const found = createTools(orchestrator, createTool, new Map()).find(({ id }) => id === name);
        return { text: await found.execute(args, {}) };
      },
    });
  },
};

describe.each(Object.keys(STACKS))("examples/%s.mjs", (stack) => {
  const canRun = stack !== "mastra" || major > 22 || (major === 22 && minor >= 13);
  it.skipIf(!canRun).each(FACE_CASES)(
    `passes the face kit${canRun ? "" : " (Mastra needs Node 22.13)"}: $name`,
    async (faceCase) => {
      await checkFace(faceCase, {
        open: (options) => createLocalOrchestrator(options),
        connect: await STACKS[stack](),
      });
    },
  );
});
