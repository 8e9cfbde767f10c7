import { formatProblem, PARSE_CONTEXT } from "@codex/values/problem";
import * as z from "zod/mini";
import { readOutputAck } from "./ack.js";
import {
  type ExecutorMessage,
  executorMessageSchema,
  type OrchestratorMessage,
  orchestratorMessageSchema,
} from "./messages.js";
import { readCall, readInput } from "./plain-call.js";
import {
  type ExecCommandRequest,
  execCommandRequestSchema,
  type WriteStdinRequest,
  writeStdinRequestSchema,
} from "./unified-exec-request.js";

/** A received message, validated once at the edge. `requestId` is what could be read of it, else null. */
export type Parsed<T> =
  | { kind: "ok"; message: T }
  | { kind: "unknown"; type: string; requestId: string | null }
  | { kind: "invalid"; requestId: string | null; problem: string };

/** The arguments of a tool call, validated. */
export type ParsedArguments<T> = { kind: "ok"; value: T } | { kind: "invalid"; problem: string };

/** Validates a message from an orchestrator. Never throws. */
export function parseOrchestratorMessage(value: unknown): Parsed<OrchestratorMessage> {
  const message = readCall(value) ?? readOutputAck(value);
  return message === undefined ? parseMessage(orchestratorMessageSchema, value) : { kind: "ok", message };
}

/** Validates a message from an executor. Never throws. */
export const parseExecutorMessage = (value: unknown): Parsed<ExecutorMessage> =>
  parseMessage(executorMessageSchema, value);

/** Validates the wire arguments of `exec_command`. Never throws. */
export const parseExecCommandRequest = (value: unknown): ParsedArguments<ExecCommandRequest> =>
  parseArguments(execCommandRequestSchema, value);

/** Validates the wire arguments of `write_stdin`. Never throws. */
export function parseWriteStdinRequest(value: unknown): ParsedArguments<WriteStdinRequest> {
  const input = readInput(value);
  return input === undefined ? parseArguments(writeStdinRequestSchema, value) : { kind: "ok", value: input };
}

function parseMessage<T>(schema: z.ZodMiniType<T>, value: unknown): Parsed<T> {
  const result = z.safeParse(schema, value, PARSE_CONTEXT);
  if (result.success) return { kind: "ok", message: result.data };
  const requestId = getText(value, "requestId") || null;
  const type = getText(value, "type");
  if (type !== undefined && isUnknownType(result.error)) return { kind: "unknown", type, requestId };
  return { kind: "invalid", requestId, problem: formatProblem(result.error, value) };
}

function parseArguments<T>(schema: z.ZodMiniType<T>, value: unknown): ParsedArguments<T> {
  const result = z.safeParse(schema, value, PARSE_CONTEXT);
  if (result.success) return { kind: "ok", value: result.data };
  return { kind: "invalid", problem: formatProblem(result.error, value) };
}

/** No option of the union of messages has this `type`. */
function isUnknownType(error: z.core.$ZodError): boolean {
  const issue = error.issues[0];
  return issue?.code === "invalid_union" && issue.path.length === 1 && issue.path[0] === "type";
}

function getText(value: unknown, key: string): string | undefined {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
  const text: unknown = Reflect.get(value, key);
  return typeof text === "string" ? text : undefined;
}
