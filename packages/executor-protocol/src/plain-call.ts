import type { OrchestratorMessage } from "./messages.js";
import type { WriteStdinRequest } from "./unified-exec-request.js";

type Call = Extract<OrchestratorMessage, { type: "call_tool" }>;

/**
 * A call with the usual fields, as the schema reads it; undefined for anything else, which is left to the schema. A typed key
 * is sent in such a call: it is echoed sooner without the schema.
 */
export function readCall(value: unknown): Call | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const call = value as Partial<Record<keyof Call, unknown>>; // each field is checked below
  if (call.type !== "call_tool" || !("arguments" in call)) return undefined;
  for (const name in call) {
    switch (name) {
      case "type":
      case "arguments":
        break;
      case "requestId":
      case "idempotencyKey":
        if (!isKey(call[name])) return undefined;
        break;
      case "toolName":
        if (typeof call.toolName !== "string") return undefined;
        break;
      case "sequence":
        if (!isCount(call.sequence) || call.sequence === 0) return undefined;
        break;
      default:
        return undefined;
    }
  }
  return call.requestId === undefined || call.toolName === undefined ? undefined : (call as Call);
}

/** Arguments of `write_stdin` that write input and nothing else, as the schema reads them; undefined for anything else. */
export function readInput(value: unknown): WriteStdinRequest | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const input = value as Partial<Record<keyof WriteStdinRequest, unknown>>; // each field is checked below
  for (const name in input) {
    switch (name) {
      case "processId":
        if (!Number.isSafeInteger(input.processId)) return undefined;
        break;
      case "input":
        if (typeof input.input !== "string") return undefined;
        break;
      case "inputEncoding":
        if (input.inputEncoding !== "base64" && input.inputEncoding !== "utf8") return undefined;
        break;
      case "yieldTimeMs":
      case "maxOutputTokens":
        if (!isCount(input[name])) return undefined;
        break;
      case "writeId":
        if (!isKey(input.writeId)) return undefined;
        break;
      case "until":
        if (input.until !== "written") return undefined;
        break;
      case "concurrent":
        if (typeof input.concurrent !== "boolean") return undefined;
        break;
      default:
        return undefined;
    }
  }
  const { processId, input: text, yieldTimeMs, maxOutputTokens } = input;
  if (processId === undefined || text === undefined) return undefined;
  return yieldTimeMs === undefined || maxOutputTokens === undefined ? undefined : (input as WriteStdinRequest);
}

const isKey = (value: unknown): boolean => typeof value === "string" && value !== "";

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;
