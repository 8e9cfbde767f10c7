import { decodeBase64, WRITE_STATUSES } from "@codex/exec-server-protocol";
import { formatProblem, outputStreamSchema, PARSE_CONTEXT, processOutcomeSchema } from "@codex/executor-protocol";
import * as z from "zod/mini";
import { ClientError } from "../errors.js";
import type { NumberedEvent } from "../events/process-event.js";

/** How a process ended, from servers that report more than an exit code. Unknown outcomes are ignored. */
const outcomeMember = z.catch(z.optional(processOutcomeSchema), undefined);

/** Requires only the members that are used: servers may omit the others and add more. */
export const startResponse = z.object({ processId: z.string(), sandboxType: z.nullish(z.string()) });

export const readResponse = z.object({
  chunks: z.array(z.object({ seq: z.int(), stream: outputStreamSchema, chunk: z.string() })),
  nextSeq: z.int(),
  exited: z.boolean(),
  exitCode: z.nullish(z.int()),
  closed: z.boolean(),
  failure: z.nullish(z.string()),
  sandboxDenied: z.nullish(z.boolean()),
  outcome: outcomeMember,
  /** Bytes of output before the first chunk, where some of it was evicted; only from servers of this project. */
  bytesBefore: z.catch(z.optional(z.int().check(z.nonnegative())), undefined),
});
/** The response to `process/read`. */
export type ReadResponse = z.output<typeof readResponse>;

export const writeResponse = z.object({ status: z.enum(WRITE_STATUSES) });

/** Only servers of this project report more than `running`. */
const processes = z.array(z.object({ pid: z.int(), name: z.string() }));
export const terminateResponse = z.object({
  running: z.nullish(z.boolean()),
  signals: z.optional(z.array(z.enum(["SIGINT", "SIGTERM", "SIGKILL", "SIGHUP", "SIGCONT"]))),
  gone: z.optional(z.boolean()),
  members: z.optional(processes),
  strays: z.optional(processes),
});
/** The response to `process/terminate`; whether the process was still running. */
export type TerminateResponse = Omit<z.output<typeof terminateResponse>, "running"> & { running: boolean };

export const listResponse = z.object({
  processes: z.array(
    z.object({
      processId: z.string(),
      pid: z.nullish(z.int()),
      running: z.boolean(),
      exitCode: z.nullish(z.int()),
      closed: z.boolean(),
      nextSeq: z.int(),
    }),
  ),
});
/** A process of the session, as `process/list` names it. */
export type ListedProcess = z.output<typeof listResponse>["processes"][number];

export const initializeResponse = z.object({
  sessionId: z.string(),
  environmentInfo: z.nullish(z.unknown()),
  sandboxedProcess: z.catch(z.nullish(z.boolean()), false),
  httpCancel: z.catch(z.nullish(z.boolean()), false),
  networkPatterns: z.catch(z.nullish(z.boolean()), false),
});

const exitedNotification = z.object({
  processId: z.string(),
  seq: z.int(),
  exitCode: z.int(),
  sandboxDenied: z.nullish(z.boolean()),
  outcome: outcomeMember,
});
const closedNotification = z.object({ processId: z.string(), seq: z.int() });
const outputNotification = z.object({
  processId: z.string(),
  seq: z.int(),
  stream: outputStreamSchema,
  chunk: z.string(),
});

/** Checks a response or notification. @throws ClientError `invalid_response` naming the member */
export function parseResponse<Schema extends z.ZodMiniType>(
  schema: Schema,
  value: unknown,
  method: string,
): z.output<Schema> {
  const result = z.safeParse(schema, value, PARSE_CONTEXT);
  if (result.success) return result.data;
  throw new ClientError("invalid_response", `${method} of the exec-server: ${formatProblem(result.error, value)}`);
}

/** Decodes a member in base64. @throws ClientError `invalid_response` */
export function parseBase64(text: string, name: string): Buffer {
  const decoded = decodeBase64(text);
  if (decoded.kind === "ok") return decoded.bytes;
  throw new ClientError("invalid_response", `${name} is not base64: ${decoded.problem}`);
}

export interface ProcessNotification {
  processId: string;
  event: NumberedEvent;
}

/** @throws ClientError `invalid_response` */
export function parseOutput(params: unknown): ProcessNotification {
  const { processId, seq, stream, chunk } = parseResponse(outputNotification, params, "process/output");
  return { processId, event: { kind: "output", seq, stream, bytes: parseBase64(chunk, "process/output chunk") } };
}

/** @throws ClientError `invalid_response` */
export function parseExited(params: unknown): ProcessNotification {
  const { processId, seq, ...exit } = parseResponse(exitedNotification, params, "process/exited");
  return { processId, event: { kind: "exited", seq, ...toExit(exit) } };
}

/** Converts the members that `process/exited` and `process/read` share. */
export function toExit({
  exitCode,
  sandboxDenied,
  outcome,
}: Omit<z.output<typeof exitedNotification>, "processId" | "seq">) {
  const ended = outcome === undefined || outcome.kind === "running" || outcome.kind === "lost" ? {} : { outcome };
  return { exitCode, sandboxDenied: sandboxDenied ?? false, ...ended };
}

/** @throws ClientError `invalid_response` */
export function parseClosed(params: unknown): ProcessNotification {
  const { processId, seq } = parseResponse(closedNotification, params, "process/closed");
  return { processId, event: { kind: "closed", seq } };
}
