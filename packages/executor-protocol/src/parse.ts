import type * as z from "zod/mini";
import { safeParse } from "zod/mini";
import {
  type ExecutorMessage,
  executorMessageSchema,
  type OrchestratorMessage,
  orchestratorMessageSchema,
} from "./messages.js";

/** A received value, validated once at the edge. `requestId` is what could be read of it, else null. */
export type Parsed<T> =
  | { kind: "ok"; message: T }
  | { kind: "unknown"; type: string; requestId: string | null }
  | { kind: "invalid"; requestId: string | null; problem: string };

export const parseOrchestratorMessage = (value: unknown): Parsed<OrchestratorMessage> =>
  parseMessage(orchestratorMessageSchema, ORCHESTRATOR_TYPES, value);

export const parseExecutorMessage = (value: unknown): Parsed<ExecutorMessage> =>
  parseMessage(executorMessageSchema, EXECUTOR_TYPES, value);

const ORCHESTRATOR_TYPES: ReadonlySet<string> = new Set<string>(
  orchestratorMessageSchema.def.options.map((option) => String(option.def.shape.type.def.values[0])),
);
const EXECUTOR_TYPES: ReadonlySet<string> = new Set<string>(
  executorMessageSchema.def.options.map((option) => String(option.def.shape.type.def.values[0])),
);

function parseMessage<T>(schema: z.ZodMiniType<T>, types: ReadonlySet<string>, value: unknown): Parsed<T> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return { kind: "invalid", requestId: null, problem: `expected a JSON object, got ${describe(value)}` };
  }
  const requestId = "requestId" in value && typeof value.requestId === "string" ? value.requestId : null;
  if (!("type" in value) || typeof value.type !== "string") {
    return { kind: "invalid", requestId, problem: "missing field `type`" };
  }
  if (!types.has(value.type)) return { kind: "unknown", type: value.type, requestId };
  const result = safeParse(schema, value);
  if (result.success) return { kind: "ok", message: result.data };
  return { kind: "invalid", requestId, problem: formatProblem(result.error) };
}

/** One line that names the field by its path and what was expected there. */
export function formatProblem(error: z.core.$ZodError): string {
  const issue = error.issues[0];
  if (issue === undefined) return "invalid value";
  const path = issue.path.map(String).join(".");
  const more = error.issues.length > 1 ? ` (and ${error.issues.length - 1} more)` : "";
  return path === "" ? `${issue.message}${more}` : `field \`${path}\`: ${issue.message}${more}`;
}

function describe(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "an array" : `a ${typeof value}`;
}
