// The tools that scenarios of the MCP conformance suite call. They run in an executor, like any other tool.
import { setTimeout as wait } from "node:timers/promises";
import { ToolError } from "@codex/executor";

const NO_ARGUMENTS = { type: "object", properties: {} };

/** A tool as an executor has it. `asks`: the policy requires approval, which the server requests from the client. */
const tool = (name, run, { asks = false, inputSchema = NO_ARGUMENTS } = {}) => ({
  spec: { name, description: `Fixture ${name}.`, inputSchema, ...(asks ? { asksApproval: true } : {}) },
  async call(args, context) {
    const content = [{ type: "input_text", text: await run(args ?? {}, context) }];
    return { status: "success", content };
  },
});

const asking = (name, text = "The client accepted.") => tool(name, () => text, { asks: true });

const SCHEMA_2020_12 = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  $defs: {
    address: {
      $anchor: "addressDef",
      type: "object",
      properties: { street: { type: "string" }, city: { type: "string" } },
    },
  },
  properties: {
    name: { type: "string" },
    address: { $ref: "#/$defs/address" },
    contactMethod: { type: "string", enum: ["phone", "email"] },
    phone: { type: "string" },
    email: { type: "string" },
  },
  allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
  if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: { required: ["phone"] },
  else: { required: ["email"] },
  additionalProperties: false,
};

export const FIXTURES = [
  tool("test_simple_text", () => "This is a simple text response for testing."),
  tool("test_error_handling", () => {
    throw new ToolError("This tool intentionally returns an error for testing");
  }),
  tool("test_tool_with_progress", async (_args, { emitOutput }) => {
    for (let step = 1; step <= 4; step += 1) {
      await emitOutput(Buffer.from(`step ${step}\n`));
      await wait(400);
    }
    return "done";
  }),
  asking("test_elicitation"),
  asking("test_input_required_result_elicitation"),
  asking("test_input_required_result_request_state", "state-ok"),
  asking("test_input_required_result_tampered_state"),
  asking("confirm_delete"),
  tool("greet", ({ name }) => `Hello, ${name}!`),
  tool("slow_compute", async ({ seconds = 0 }, { signal }) => {
    await wait(seconds * 1000, undefined, { signal });
    return `computed for ${seconds} s`;
  }),
  tool("failing_job", async () => {
    await wait(1000);
    throw new ToolError("the job failed");
  }),
  tool("json_schema_2020_12_tool", () => "ok", { inputSchema: SCHEMA_2020_12 }),
];
