import type { ExecutorConnection, LearnedTool } from "@codex/executor-client";
import { STANDARD_TOOLS, sandboxPermissionsSchema, type ToolContract } from "@codex/executor-protocol";
import { toWellFormed } from "@codex/values";
import type { Config } from "../config.js";
import { isObject } from "../json.js";
import type { WindowBounds } from "../limits.js";
import type { Selection } from "./selection.js";

/** A tool as it is described to a model. */
export interface ModelTool {
  name: string;
  description: string;
  /** JSON schema of the arguments. */
  inputSchema: Record<string, unknown>;
}

/** The argument that selects an environment if there are several. */
export const ENVIRONMENT_ID = "environment_id";

type GetState = () => { readonly status: string; readonly reason?: string | undefined };

/** Why the host of an executor cannot be reached. */
export interface Outage {
  status: "reconnecting" | "failed";
  reason: string;
}

/**
 * The environments in order: attached executors, and those that are attached when they are first used. The first that offers
 * a tool is its default, also while it is offline.
 */
export class Catalog {
  /** Undefined for a name whose executor is not attached. */
  readonly #executors = new Map<string, ExecutorConnection | undefined>();
  /** Names that are assumed to have the standard tools while no executor is attached. */
  readonly #expected = new Set<string>();
  /** States of the connections behind executors. */
  readonly #states = new WeakMap<ExecutorConnection, GetState>();
  /** For executors that add tools to an environment: the name of that environment. */
  readonly #additions = new Map<string, string>();

  get all(): ExecutorConnection[] {
    return [...this.#executors.values()].filter((executor) => executor !== undefined);
  }

  /** Attached executors that are environments. */
  get attached(): ExecutorConnection[] {
    return this.all.filter(({ name }) => !this.isAddition(name));
  }

  /** Keeps a place in the order for an executor that is being attached. Returns a function that releases it unless it was taken. */
  reserve(name: string, toolsFor?: string): () => void {
    if (!this.#executors.has(name)) this.#executors.set(name, undefined);
    if (toolsFor !== undefined) this.#additions.set(name, toolsFor);
    return () => {
      if (this.#executors.get(name) === undefined && !this.#expected.has(name)) this.delete(name);
    };
  }

  /** Keeps a place in the order for an executor that is attached on first use. */
  expect(name: string): void {
    this.#expected.add(name);
    this.reserve(name);
  }

  get(name: string): ExecutorConnection | undefined {
    return this.#executors.get(name);
  }

  /** A known name keeps its place in the order. */
  set(executor: ExecutorConnection, getState?: GetState): void {
    this.#executors.set(executor.name, executor);
    if (getState !== undefined) this.#states.set(executor, getState);
  }

  /** Why the host of an executor cannot be reached now; undefined while it can. */
  findOutage(executor: ExecutorConnection): Outage | undefined {
    const { offlineReason, lostReason } = executor;
    if (offlineReason !== undefined) return { status: "failed", reason: offlineReason };
    if (lostReason !== undefined) return { status: "reconnecting", reason: lostReason };
    const state = this.#states.get(executor)?.();
    if (state === undefined || (state.status !== "reconnecting" && state.status !== "failed")) return undefined;
    return { status: state.status, reason: state.reason ?? "the connection was lost" };
  }

  delete(name: string): void {
    this.#executors.delete(name);
    this.#expected.delete(name);
    this.#additions.delete(name);
  }

  /** Names that calls may use, the default first. */
  names(selection?: Selection): string[] {
    const known = [...this.#executors.keys()].filter((name) => this.#isUsable(name) && !this.isAddition(name));
    if (selection === undefined) return known;
    const isKnown = new Set(known);
    return selection.map(({ id }) => id).filter((id) => isKnown.has(id));
  }

  /** Whether it only adds tools to an environment: calls cannot name it. */
  isAddition(name: string): boolean {
    return this.#additions.has(name);
  }

  /** The environment whose policy, approver and name a call to this executor has. */
  environmentOf(name: string): string {
    return this.#additions.get(name) ?? name;
  }

  /** A tool of an environment; before an executor is attached, the standard tools are assumed. */
  toolOf(name: string, toolName: string): LearnedTool | undefined {
    return this.#toolsOf(name).get(toolName);
  }

  /** The environments with this tool; if none has it, the executor that adds it. */
  offering(toolName: string, selection?: Selection): string[] {
    const offering = this.names(selection).filter((name) => this.#toolsOf(name).has(toolName));
    if (offering.length > 0) return offering;
    return this.#additionsOf(selection)
      .filter((name) => this.#toolsOf(name).has(toolName))
      .slice(0, 1);
  }

  /** Names of all tools. */
  toolNames(selection?: Selection): string[] {
    const names = [...this.names(selection), ...this.#additionsOf(selection)];
    return [...new Set(names.flatMap((name) => [...this.#toolsOf(name).keys()]))];
  }

  /** One entry per name; where environments differ, the first describes the tool. */
  list(config: Config, selection?: Selection): ModelTool[] {
    const first = new Map<string, LearnedTool>();
    for (const name of [...this.names(selection), ...this.#additionsOf(selection)]) {
      for (const tool of this.#toolsOf(name).values()) if (!first.has(tool.name)) first.set(tool.name, tool);
    }
    return [...first.values()].map((tool) => this.#describe(tool, config, selection));
  }

  /** Whether `environment_id` is added to this tool, rather than an argument of its own. */
  takesEnvironment(toolName: string, selection?: Selection): boolean {
    const [first] = this.offering(toolName, selection);
    const tool = first === undefined ? undefined : this.toolOf(first, toolName);
    if (first === undefined || tool === undefined || this.isAddition(first)) return false;
    return tool.contract !== undefined || !(ENVIRONMENT_ID in propertiesOf(tool.inputSchema));
  }

  /** Names that are being attached count, so that the argument does not appear and disappear. */
  #isChoice(selection: Selection): boolean {
    const all = this.#executors.size - this.#additions.size;
    return (selection === undefined ? all : this.names(selection).length) > 1;
  }

  /** Executors that add tools to an environment are selected with it; if that environment is unknown, always. */
  #additionsOf(selection: Selection): string[] {
    const usable = [...this.#additions.keys()].filter((name) => this.#executors.get(name) !== undefined);
    if (selection === undefined || usable.length === 0) return usable;
    const selected = new Set(selection.map(({ id }) => id));
    return usable.filter((name) => {
      const environment = this.environmentOf(name);
      return !this.#executors.has(environment) || selected.has(environment);
    });
  }

  #isUsable(name: string): boolean {
    return this.#executors.get(name) !== undefined || this.#expected.has(name);
  }

  #toolsOf(name: string): ReadonlyMap<string, LearnedTool> {
    const executor = this.#executors.get(name);
    return executor?.tools ?? (this.#expected.has(name) ? EXPECTED_TOOLS : NO_TOOLS);
  }

  #describe(tool: LearnedTool, config: Config, selection: Selection): ModelTool {
    const inputSchema = structuredClone(tool.inputSchema);
    const properties = propertiesOf(inputSchema);
    if (tool.contract !== undefined) describeBounds(tool, properties, config);
    if (this.#isChoice(selection) && this.takesEnvironment(tool.name, selection)) {
      const names = this.offering(tool.name, selection);
      const description = `Environment to use, default \`${names[0]}\``;
      properties[ENVIRONMENT_ID] = { type: "string", enum: names, description };
      inputSchema.properties = properties;
    }
    return toWellFormed({ name: tool.name, description: tool.description, inputSchema });
  }
}

const NO_TOOLS: ReadonlyMap<string, LearnedTool> = new Map();
const EXPECTED_TOOLS: ReadonlyMap<string, LearnedTool> = new Map(
  Object.entries(STANDARD_TOOLS).map(([name, spec]) => {
    const { description, inputSchema } = spec;
    return [name, { name, description, inputSchema, contract: "contract" in spec ? spec.contract : undefined }];
  }),
);

function describeBounds(tool: LearnedTool, properties: Record<string, unknown>, config: Config): void {
  const { yield_time_ms: window, max_output_tokens: budget } = properties;
  if (isObject(window)) {
    properties.yield_time_ms = { ...window, description: describeWindows(tool.contract, config.windows) };
  }
  if (tool.contract === "unified_exec.exec_command" && config.allowAdditionalPermissions) {
    properties.sandbox_permissions = { type: "string", enum: sandboxPermissionsSchema.options };
    properties.additional_permissions = ADDITIONAL_PERMISSIONS;
  }
  if (tool.contract === "unified_exec.exec_command" && config.permissionProfiles.length > 0) {
    const description =
      "Permission profile to run this one command in, where its sandbox does not allow what it needs. A person is asked, so say why in `justification`.";
    properties.permission_profile = { type: "string", enum: config.permissionProfiles, description };
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
    'With sandbox_permissions "with_additional_permissions": permissions in addition to the sandbox for this command.',
  properties: {
    file_system: { type: "object", properties: { read: PATHS, write: PATHS }, additionalProperties: false },
    network: { type: "object", properties: { enabled: { type: "boolean" } }, additionalProperties: false },
  },
  additionalProperties: false,
};

const propertiesOf = (schema: Record<string, unknown>): Record<string, unknown> =>
  isObject(schema.properties) ? schema.properties : {};
