import type { CallItem, HostedSpec, ToolSpec } from "@codex/model";
import { asObject, parseJson } from "@codex/model/json";
import type { ModelTool } from "@codex/orchestrator";
import { messageOf } from "@codex/values";
import type { AgentTool } from "../tools/agent-tool.js";

/** The target of a call. */
type Route =
  | { readonly kind: "own"; readonly tool: AgentTool }
  | { readonly kind: "orchestrator"; readonly name: string }
  | { readonly kind: "unknown"; readonly name: string };

/** The tools of a turn: their specs, and the routing of calls. */
export interface ToolTable {
  readonly specs: readonly ToolSpec[];
  readonly names: readonly string[];
  find(call: CallItem): Route;
}

/** Tools offered to a model. */
export interface OfferedTools {
  /** Tools of the orchestrator; an own tool with the same name takes precedence. */
  readonly orchestrator: readonly ModelTool[];
  readonly own: readonly AgentTool[];
  readonly hosted: readonly HostedSpec[];
  /** The model supports free-form tools. */
  readonly customTools: boolean;
}

export function createToolTable({ orchestrator, own, hosted, customTools }: OfferedTools): ToolTable {
  const ownNames = new Map(own.map((tool) => [tool.spec.name, tool]));
  const remote = orchestrator.filter(({ name }) => !ownNames.has(name));
  const known = new Set(remote.map(({ name }) => name));
  const specs = [
    ...remote.map(({ name, description, inputSchema }) => asFunction(name, description, inputSchema)),
    ...own.map((tool) => describeOwn(tool, customTools)),
    ...hosted,
  ];
  return {
    specs,
    names: [...known, ...ownNames.keys()],
    find(call) {
      for (const name of namesOf(call)) {
        const tool = ownNames.get(name);
        if (tool !== undefined) return { kind: "own", tool };
        if (known.has(name)) return { kind: "orchestrator", name };
      }
      return { kind: "unknown", name: call.name };
    },
  };
}

const asFunction = (name: string, description: string, parameters: Readonly<Record<string, unknown>>): ToolSpec => ({
  type: "function",
  name,
  description,
  strict: false,
  parameters,
});

function describeOwn({ spec }: AgentTool, customTools: boolean): ToolSpec {
  const { name, description, inputSchema, grammar } = spec;
  if (grammar === undefined || !customTools) return asFunction(name, description, inputSchema);
  return { type: "custom", name, description, format: { type: "grammar", syntax: "lark", definition: grammar } };
}

/** Candidate tool names of a call, with its namespace as prefix; `functions` is not a namespace. */
function namesOf(call: CallItem): string[] {
  const namespace = typeof call.namespace === "string" && call.namespace !== "functions" ? call.namespace : "";
  const name = call.name.replace(/^functions\./, "");
  return namespace === "" ? [name] : [`${namespace}__${name}`, `${namespace}${name}`, name];
}

/** The arguments of a call, or the problem. */
export type ParsedInput =
  | { readonly kind: "ok"; readonly args: Readonly<Record<string, unknown>> }
  | { readonly kind: "bad"; readonly problem: string };

/** Raw input text of a call. */
export const inputOf = (call: CallItem): string => (call.type === "function_call" ? call.arguments : call.input);

/**
 * Parses the arguments of a call of either type: free text becomes `{ input }` if the tool accepts that, otherwise JSON is
 * expected; empty text means no arguments. Pure.
 */
export function parseInput(call: CallItem, acceptsText: boolean): ParsedInput {
  const text = inputOf(call);
  if (call.type === "custom_tool_call" && acceptsText) return { kind: "ok", args: { input: text } };
  if (text.trim() === "") return { kind: "ok", args: {} };
  const args = asObject(parseJson(text));
  if (args !== undefined) return { kind: "ok", args };
  return acceptsText && !/^\s*[{["]/.test(text)
    ? { kind: "ok", args: { input: text } }
    : { kind: "bad", problem: `${describeJsonError(text)}; expected a JSON object` };
}

function describeJsonError(text: string): string {
  try {
    const value: unknown = JSON.parse(text);
    return `the arguments are ${Array.isArray(value) ? "a list" : value === null ? "null" : `a ${typeof value}`}`;
  } catch (error) {
    return `the arguments are not JSON: ${messageOf(error)}`;
  }
}
