import { decodeBase64, WRITE_STATUSES } from "@codex/exec-server-protocol";
import { outputStreamSchema, processOutcomeSchema } from "@codex/executor-protocol";
import * as z from "zod/mini";
import { ClientError } from "../errors.js";
import type { NumberedEvent } from "../events/process-event.js";

/** How a process ended, from servers that report more than an exit code. Unknown outcomes are ignored. */
const outcomeMember = z.catch(z.optional(processOutcomeSchema), undefined);

/** Requires only the members that are used: servers may omit the others and add more. */
export const startAnswer = z.object({ processId: z.string(), sandboxType: z.nullish(z.string()) });

export const readAnswer = z.object({
  chunks: z.array(z.object({ seq: z.int(), stream: outputStreamSchema, chunk: z.string() })),
  nextSeq: z.int(),
  exited: z.boolean(),
  exitCode: z.nullish(z.int()),
  closed: z.boolean(),
  failure: z.nullish(z.string()),
  sandboxDenied: z.nullish(z.boolean()),
  outcome: outcomeMember,
});
/** The answer to `process/read`. */
export type ReadAnswer = z.output<typeof readAnswer>;

export const writeAnswer = z.object({ status: z.enum(WRITE_STATUSES) });

/** Only servers of this project report more than `running`. */
const processes = z.array(z.object({ pid: z.int(), name: z.string() }));
export const terminateAnswer = z.object({
  running: z.nullish(z.boolean()),
  signals: z.optional(z.array(z.enum(["SIGINT", "SIGTERM", "SIGKILL", "SIGHUP", "SIGCONT"]))),
  gone: z.optional(z.boolean()),
  members: z.optional(processes),
  strays: z.optional(processes),
});
/** The answer to `process/terminate`; whether the process was still running. */
export type TerminateAnswer = Omit<z.output<typeof terminateAnswer>, "running"> & { running: boolean };

export const listAnswer = z.object({
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
export type ListedProcess = z.output<typeof listAnswer>["processes"][number];

export const initializeAnswer = z.object({
  sessionId: z.string(),
  environmentInfo: z.nullish(z.unknown()),
  sandboxedProcess: z.catch(z.nullish(z.boolean()), false),
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

/** @throws ClientError `bad_answer` naming the member */
export function parseAnswer<Schema extends z.ZodMiniType>(
  schema: Schema,
  value: unknown,
  method: string,
): z.output<Schema> {
  const result = z.safeParse(schema, value);
  if (result.success) return result.data;
  const issue = result.error.issues[0]!;
  const member = issue.path.length === 0 ? "" : ` \`${issue.path.map(String).join(".")}\``;
  throw new ClientError("bad_answer", `the answer to ${method} has a wrong or missing member${member}`);
}

/** Decodes a member in base64. @throws ClientError `bad_answer` */
export function parseBase64(text: string, name: string): Buffer {
  const decoded = decodeBase64(text);
  if (decoded.kind === "ok") return decoded.bytes;
  throw new ClientError("bad_answer", `${name} is no base64: ${decoded.problem}`);
}

export interface ProcessNotification {
  processId: string;
  event: NumberedEvent;
}

/** @throws ClientError `bad_answer` */
export function parseOutput(params: unknown): ProcessNotification {
  const { processId, seq, stream, chunk } = parseAnswer(outputNotification, params, "process/output");
  return { processId, event: { kind: "output", seq, stream, bytes: parseBase64(chunk, "process/output chunk") } };
}

/** @throws ClientError `bad_answer` */
export function parseExited(params: unknown): ProcessNotification {
  const { processId, seq, ...exit } = parseAnswer(exitedNotification, params, "process/exited");
  return { processId, event: { kind: "exited", seq, ...toExit(exit) } };
}

/** Converts the members that `process/exited` and `process/read` share. */
export function toExit({
  exitCode,
  sandboxDenied,
  outcome,
}: Omit<z.output<typeof exitedNotification>, "processId" | "seq">) {
  const ended = outcome?.kind === "exited" || outcome?.kind === "signaled" ? { outcome } : {};
  return { exitCode, sandboxDenied: sandboxDenied ?? false, ...ended };
}

/** @throws ClientError `bad_answer` */
export function parseClosed(params: unknown): ProcessNotification {
  const { processId, seq } = parseAnswer(closedNotification, params, "process/closed");
  return { processId, event: { kind: "closed", seq } };
}
