import { formatArgumentProblem, PARSE_CONTEXT, type ToolCallOutcome } from "@codex/executor-protocol";
import * as z from "zod/mini";
import { ToolError } from "../errors.js";
import type { ExecutorTool, ToolCallContext } from "./tool-registry.js";

/** What a tool answers: text for the model, and the same for programs where there is more to it. */
export type ToolResult = string | { text: string; structured?: Record<string, unknown> };

/** A tool as its author writes it, for `defineTool`. */
export interface ToolDefinition<Schema extends z.core.$ZodObject> {
  /** Unique within an executor, as a model writes it: `disk_usage`. */
  name: string;
  /** For the model: what the tool does, and when to use it. */
  description: string;
  /** An object schema of `zod` or `zod/mini`. Descriptions of its fields (`z.describe`, `.describe()`) reach the model. */
  inputSchema: Schema;
  /**
   * Handles one call. It should end soon after `context.signal` aborts.
   * @throws ToolError for what the model should know and can act on; anything else counts as a fault of the tool, is logged,
   * and is an error for the model as well.
   */
  execute(args: z.output<Schema>, context: ToolCallContext): ToolResult | Promise<ToolResult>;
}

/**
 * Makes a tool whose arguments are validated before `execute` sees them. A call whose arguments do not fit is answered
 * with an error that names the first field, its value and the rule; `execute` is not called.
 *
 * ```ts
 * const diskUsage = defineTool({
 *   name: "disk_usage",
 *   description: "Bytes used by a directory.",
 *   inputSchema: z.object({ path: z.string(), depth: z._default(z.int().check(z.minimum(1), z.maximum(8)), 1) }),
 *   execute: async ({ path, depth }, { signal }) => `${await countBytes(path, depth, signal)} bytes`,
 * });
 * createExecutor({ backend, tools: [diskUsage] });
 * ```
 *
 * @throws Error when the schema has no JSON Schema, such as one with a date.
 */
export function defineTool<Schema extends z.core.$ZodObject>(definition: ToolDefinition<Schema>): ExecutorTool {
  const { name, description, inputSchema } = definition;
  return {
    spec: { name, description, inputSchema: toInputSchema(inputSchema) },
    async call(args, context) {
      return toOutcome(await definition.execute(await validate(inputSchema, args ?? {}, name), context));
    },
  };
}

/** The JSON Schema of what a model may send, before defaults are filled in. */
function toInputSchema(schema: z.core.$ZodObject): Record<string, unknown> {
  const { $schema, ...inputSchema } = z.toJSONSchema(schema, { io: "input" });
  return inputSchema;
}

async function validate<Schema extends z.core.$ZodObject>(
  schema: Schema,
  args: unknown,
  toolName: string,
): Promise<z.output<Schema>> {
  const result = await z.safeParseAsync(schema, args, PARSE_CONTEXT);
  if (result.success) return result.data;
  throw new ToolError(`arguments of \`${toolName}\`: ${formatArgumentProblem(result.error, args)}`);
}

function toOutcome(result: ToolResult): ToolCallOutcome {
  const { text, structured } = typeof result === "string" ? { text: result, structured: undefined } : result;
  const content = [{ type: "input_text" as const, text }];
  return { status: "success", content, ...(structured === undefined ? {} : { structured }) };
}
