import { formatArgumentProblem, PARSE_CONTEXT, type ToolCallOutcome } from "@codex/executor-protocol";
import { defined } from "@codex/values";
import * as z from "zod/mini";
import { ToolError } from "../errors.js";
import { restorePrototypes, withoutPrototypes } from "./bare-objects.js";
import { toInputSchema } from "./input-schema.js";
import type { ExecutorTool, ToolCallContext } from "./tool-registry.js";

/** The result of a tool: text for the model, and optionally structured data for programs. */
export type ToolResult = string | { text: string; structured?: Record<string, unknown> };

/** Definition of a tool for `defineTool`. */
export interface ToolDefinition<Schema extends z.core.$ZodObject> {
  /** Unique within an executor, as a model writes it: `disk_usage`. */
  name: string;
  /** For the model: what the tool does, and when to use it. */
  description: string;
  /** An object schema of `zod` or `zod/mini`. Descriptions of its fields (`z.describe`, `.describe()`) reach the model. */
  inputSchema: Schema;
  /**
   * Handles one call. It should end soon after `context.signal` aborts.
   * @throws ToolError for errors that the model can act on; any other exception counts as a defect of the tool: it is logged, and
   * also reported to the model as an error
   */
  execute(args: z.output<Schema>, context: ToolCallContext): ToolResult | Promise<ToolResult>;
}

/**
 * Creates a tool whose arguments are validated before `execute` is called. A call with invalid arguments returns an error that
 * names the first invalid field, its value and the rule.
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
 * @throws Error naming tool and field when the schema has no JSON Schema, such as one with a date, has a field
 * `__proto__`, or is nested deeper than `MAX_SCHEMA_DEPTH`.
 */
export function defineTool<Schema extends z.core.$ZodObject>(definition: ToolDefinition<Schema>): ExecutorTool {
  const { name, description, inputSchema } = definition;
  return {
    spec: { name, description, inputSchema: toInputSchema(name, inputSchema) },
    async call(args, context) {
      return toOutcome(await definition.execute(await validate(inputSchema, args ?? {}, name), context));
    },
  };
}

async function validate<Schema extends z.core.$ZodObject>(
  schema: Schema,
  args: unknown,
  toolName: string,
): Promise<z.output<Schema>> {
  // Inherited members, such as `toString`, were not sent.
  const result = await z.safeParseAsync(schema, withoutPrototypes(args), PARSE_CONTEXT);
  if (result.success) return restorePrototypes(result.data);
  throw new ToolError(`arguments of \`${toolName}\`: ${formatArgumentProblem(result.error, args)}`);
}

/** @throws Error for a value that is not a `ToolResult`, which tools written in JavaScript can return */
function toOutcome(result: unknown): ToolCallOutcome {
  const { text, structured } = typeof result === "string" ? { text: result } : parseResult(result);
  const content = [{ type: "input_text" as const, text }];
  return { status: "success", content, ...defined({ structured }) };
}

const resultSchema = z.object({ text: z.string(), structured: z.optional(z.record(z.string(), z.unknown())) });

function parseResult(result: unknown): z.output<typeof resultSchema> {
  const parsed = z.safeParse(resultSchema, result, PARSE_CONTEXT);
  if (parsed.success) return parsed.data;
  const problem = formatArgumentProblem(parsed.error, result);
  throw new Error(`its result is not a string or { text, structured? }: ${problem}`);
}
