import type { ExecutorToolSpec, ToolContract } from "@codex/executor-protocol";
import { toolContractSchema } from "@codex/executor-protocol";
import { cutToBytes } from "@codex/telemetry";
import type { ExecutorConnectionLimits } from "../limits.js";
import type { ProblemLog } from "./problems.js";

/** A tool listed by an executor, validated and within limits. */
export interface LearnedTool {
  name: string;
  description: string;
  /** Always an object schema. */
  inputSchema: Record<string, unknown>;
  /** Undefined if the tool takes the model's arguments unchanged. */
  contract: ToolContract | undefined;
  /** Calls need approval, subject to policy. */
  asksApproval?: boolean;
}

/** The usable tools of an advertised list; each omission is recorded as a problem. */
export function parseToolList(
  specs: readonly ExecutorToolSpec[],
  limits: ExecutorConnectionLimits,
  problems: ProblemLog,
): Map<string, LearnedTool> {
  const tools = new Map<string, LearnedTool>();
  for (const spec of specs.slice(0, limits.toolsPerExecutor)) {
    const problem = problemOf(spec, limits) ?? (tools.has(spec.name) ? "advertised twice" : undefined);
    if (problem === undefined) tools.set(spec.name, learn(spec, limits, problems));
    else problems.note("invalid_tool", `tool \`${spec.name}\` is left out: ${problem}`);
  }
  if (specs.length > limits.toolsPerExecutor) {
    problems.note(
      "invalid_tool",
      `${specs.length} tools (limit ${limits.toolsPerExecutor} tools); the rest is left out`,
    );
  }
  return tools;
}

function problemOf(spec: ExecutorToolSpec, limits: ExecutorConnectionLimits): string | undefined {
  const nameBytes = Buffer.byteLength(spec.name);
  if (nameBytes > limits.toolNameBytes) {
    return `its name has ${nameBytes} bytes (limit ${limits.toolNameBytes} bytes)`;
  }
  if (!TOOL_NAME.test(spec.name)) return "its name has characters other than letters, digits and _ - . / :";
  if (!isObject(spec.inputSchema)) return "its inputSchema is no object";
  const schemaBytes = Buffer.byteLength(JSON.stringify(spec.inputSchema));
  if (schemaBytes > limits.toolSchemaBytes) {
    return `its inputSchema has ${schemaBytes} bytes (limit ${limits.toolSchemaBytes} bytes)`;
  }
  if (spec.contract !== undefined && !toolContractSchema.safeParse(spec.contract).success) {
    return `its contract \`${spec.contract}\` is unknown here`;
  }
  return undefined;
}

const TOOL_NAME = /^[A-Za-z0-9_./:-]+$/;

function learn(spec: ExecutorToolSpec, limits: ExecutorConnectionLimits, problems: ProblemLog): LearnedTool {
  const description = cutToBytes(spec.description, limits.toolDescriptionBytes);
  if (description !== spec.description) {
    const bytes = Buffer.byteLength(spec.description);
    const limit = `limit ${limits.toolDescriptionBytes} bytes`;
    problems.note("invalid_tool", `description of tool \`${spec.name}\` has ${bytes} bytes (${limit}); cut`);
  }
  const contract = toolContractSchema.safeParse(spec.contract);
  return {
    name: spec.name,
    description,
    inputSchema: isObject(spec.inputSchema) ? spec.inputSchema : {},
    contract: contract.success ? contract.data : undefined,
    ...(spec.asksApproval === true ? { asksApproval: true } : {}),
  };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
