import { sandboxPermissionsSchema, type ToolContract } from "@codex/executor-protocol";
import type { Config } from "../config.js";
import type { ExecutorConnection } from "../executors/executor-connection.js";
import type { LearnedTool } from "../executors/tool-list.js";
import { isObject } from "../json.js";
import type { WindowBounds } from "../limits.js";

/** A tool as it is described to a model. */
export interface ModelTool {
  name: string;
  description: string;
  /** JSON schema of the arguments. */
  inputSchema: Record<string, unknown>;
}

/** The argument that selects an executor where several are attached. */
export const ENVIRONMENT_ID = "environment_id";

/** The attached executors in order; the first that offers a tool is its default, also while it is offline. */
export class Catalog {
  /** Undefined for a name that is reserved. */
  readonly #executors = new Map<string, ExecutorConnection | undefined>();

  get all(): ExecutorConnection[] {
    return [...this.#executors.values()].filter((executor) => executor !== undefined);
  }

  /** Keeps a place in the order for an executor that is being attached. Returns a function that releases it unless it was taken. */
  reserve(name: string): () => void {
    if (!this.#executors.has(name)) this.#executors.set(name, undefined);
    return () => {
      if (this.#executors.get(name) === undefined) this.#executors.delete(name);
    };
  }

  get(name: string): ExecutorConnection | undefined {
    return this.#executors.get(name);
  }

  /** A known name keeps its place in the order. */
  set(executor: ExecutorConnection): void {
    this.#executors.set(executor.name, executor);
  }

  delete(name: string): void {
    this.#executors.delete(name);
  }

  offering(toolName: string): ExecutorConnection[] {
    return this.all.filter((executor) => executor.tools.has(toolName));
  }

  /** One entry per name; where executors differ, the first attached describes the tool. */
  list(config: Config): ModelTool[] {
    const first = new Map<string, LearnedTool>();
    for (const executor of this.all) {
      for (const tool of executor.tools.values()) if (!first.has(tool.name)) first.set(tool.name, tool);
    }
    return [...first.values()].map((tool) => this.#describe(tool, config));
  }

  /** Whether `environment_id` is ours for this tool, and not an argument of its own. */
  takesEnvironment(toolName: string): boolean {
    const tool = this.offering(toolName)[0]?.tools.get(toolName);
    if (tool === undefined) return false;
    return tool.contract !== undefined || !(ENVIRONMENT_ID in propertiesOf(tool.inputSchema));
  }

  #describe(tool: LearnedTool, config: Config): ModelTool {
    const inputSchema = structuredClone(tool.inputSchema);
    const properties = propertiesOf(inputSchema);
    if (tool.contract !== undefined) describeBounds(tool, properties, config);
    if (this.#executors.size > 1 && this.takesEnvironment(tool.name)) {
      const names = this.offering(tool.name).map((executor) => executor.name);
      const description = `Environment to use, default \`${names[0]}\``;
      properties[ENVIRONMENT_ID] = { type: "string", enum: names, description };
      inputSchema.properties = properties;
    }
    return { name: tool.name, description: tool.description, inputSchema };
  }
}

function describeBounds(tool: LearnedTool, properties: Record<string, unknown>, config: Config): void {
  const { yield_time_ms: window, max_output_tokens: budget } = properties;
  if (isObject(window)) {
    properties.yield_time_ms = { ...window, description: describeWindows(tool.contract, config.windows) };
  }
  if (tool.contract === "unified_exec.exec_command" && config.allowAdditionalPermissions) {
    properties.sandbox_permissions = { type: "string", enum: sandboxPermissionsSchema.options };
    properties.additional_permissions = ADDITIONAL_PERMISSIONS;
  }
  if (isObject(budget)) {
    const { maxOutputTokens, maxOutputTokensCap } = config;
    const description = `Most tokens of output to return: default ${maxOutputTokens}, at most ${maxOutputTokensCap}`;
    properties.max_output_tokens = { ...budget, description };
  }
}

/** The sentence for the tool's schema. */
function describeWindows(contract: ToolContract | undefined, bounds: WindowBounds): string {
  if (contract === "unified_exec.exec_command") {
    const range = `${bounds.execMinMs}–${bounds.execMaxMs}`;
    return `Milliseconds to wait for output before control returns: default ${bounds.execDefaultMs}, effective ${range}`;
  }
  const write = `default ${bounds.writeDefaultMs}, effective ${bounds.writeMinMs}–${bounds.writeMaxMs} with input`;
  return `Milliseconds to wait for output: ${write}, ${bounds.pollMinMs}–${bounds.pollMaxMs} for an empty poll`;
}

const PATHS = { type: "array", items: { type: "string" } };
const ADDITIONAL_PERMISSIONS = {
  type: "object",
  description:
    'With sandbox_permissions "with_additional_permissions": what the sandbox is widened by for this command.',
  properties: {
    file_system: { type: "object", properties: { read: PATHS, write: PATHS }, additionalProperties: false },
    network: { type: "object", properties: { enabled: { type: "boolean" } }, additionalProperties: false },
  },
  additionalProperties: false,
};

const propertiesOf = (schema: Record<string, unknown>): Record<string, unknown> =>
  isObject(schema.properties) ? schema.properties : {};
