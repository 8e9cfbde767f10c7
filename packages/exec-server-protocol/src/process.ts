import type { OutputStream, ProcessOutcome } from "@codex/executor-protocol";
import { envPolicySchema, terminalSizeSchema } from "@codex/executor-protocol";
import * as z from "zod/mini";
import { decodeParams, lazily } from "./decode.js";
import { base64Member, cwdMember, optional, refuse, unsigned, withDefault } from "./members.js";
import { networkProxyMember } from "./network-proxy.js";
import { sandboxMember } from "./sandbox.js";

const UUID = /^[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}$/i;

const uuidMember = z.pipe(
  z.string(),
  z.transform((text, context) => (UUID.test(text) ? text : refuse(context, text, `\`${text}\` is not a UUID`))),
);

const argvMember = z.pipe(
  z.array(z.string()),
  z.transform((argv, context) => (argv.length > 0 ? argv : refuse(context, argv, "argv must not be empty"))),
);

const startSchema = lazily(() =>
  z.object({
    processId: z.string(),
    argv: argvMember,
    cwd: cwdMember,
    /** The whole environment, or what is merged over the result of `envPolicy`. */
    env: z.record(z.string(), z.string()),
    tty: z.boolean(),
    /** Without `tty`: a pipe to write to instead of /dev/null. */
    pipeStdin: withDefault(z.boolean(), false),
    arg0: optional(z.string()),
    envPolicy: optional(envPolicySchema),
    sandbox: sandboxMember(),
    enforceManagedNetwork: withDefault(z.boolean(), false),
    managedNetwork: optional(z.looseObject({})),
    /** A network proxy of its own for the process. */
    networkProxy: optional(networkProxyMember()),
    metadata: optional(z.object({ threadId: optional(uuidMember), toolCallId: optional(z.string()) })),
    /** `[shell.path, "-lc", script]` may be started from an earlier snapshot of the shell for the same scope. */
    shellSnapshot: optional(
      z.looseObject({ scopeId: z.string(), shell: z.looseObject({ name: z.string(), path: z.string() }) }),
    ),
    /** Size of the terminal, default 24 × 80; unknown to Codex 0.169.0. */
    rows: optional(terminalSizeSchema.shape.rows),
    cols: optional(terminalSizeSchema.shape.cols),
  }),
);
/** Parameters of `process/start`; the client chooses `processId`. */
export type StartParams = z.output<ReturnType<typeof startSchema>>;

export interface StartResult {
  processId: string;
  sandboxType: "none" | "linuxSeccomp" | "macosSeatbelt" | "windowsRestrictedToken";
}

const readSchema = lazily(() =>
  z.object({
    processId: z.string(),
    /** Exclusive. */
    afterSeq: withDefault(unsigned, 0),
    maxBytes: optional(unsigned),
    /** Milliseconds to wait for output or the exit. */
    waitMs: withDefault(unsigned, 0),
  }),
);
/** Parameters of `process/read`. */
export type ReadParams = z.output<ReturnType<typeof readSchema>>;

export interface ReadResult {
  chunks: { seq: number; stream: OutputStream; chunk: string }[];
  nextSeq: number;
  exited: boolean;
  exitCode: number | null;
  closed: boolean;
  failure: string | null;
  sandboxDenied: boolean;
  /** Only when the process did not exit: a signal ended it, or its sandbox did not start it. An addition of this server. */
  outcome?: ProcessOutcome;
}

const writeSchema = lazily(() =>
  z.object({
    processId: z.string(),
    chunk: base64Member(),
    /** A repeated id writes nothing. Codex 0.169.0 requires it; here a write without it is never treated as a repeat. */
    writeId: optional(
      z.pipe(
        z.string(),
        z.transform((id, context) => (id === "" ? refuse(context, id, "writeId must not be empty") : id)),
      ),
    ),
  }),
);
/** Parameters of `process/write`. */
export type WriteParams = z.output<ReturnType<typeof writeSchema>>;

/** Every `WriteStatus`. */
export const WRITE_STATUSES = ["accepted", "unknownProcess", "stdinClosed", "starting"] as const;
/** The result of a write: `accepted` means queued for the program, not read by it. */
export type WriteStatus = (typeof WRITE_STATUSES)[number];

/** The response to `process/write`: whether the bytes were accepted, or why not. */
export interface WriteResult {
  status: WriteStatus;
}

const signalSchema = lazily(() =>
  z.object({
    processId: z.string(),
    /** Codex 0.169.0 supports `interrupt` only. */
    signal: z.enum(["interrupt", "terminate", "hangup"]),
  }),
);
/** Parameters of `process/signal`. */
export type SignalParams = z.output<ReturnType<typeof signalSchema>>;

const terminateSchema = lazily(() =>
  z.object({
    processId: z.string(),
    /** Milliseconds between SIGTERM and SIGKILL; absent: SIGKILL immediately, as Codex does. */
    graceMs: optional(unsigned),
  }),
);
/** Parameters of `process/terminate`. */
export type TerminateParams = z.output<ReturnType<typeof terminateSchema>>;

export interface TerminateResult {
  /** It had not exited when the request arrived. */
  running: boolean;
}

const resizeSchema = lazily(() => z.object({ processId: z.string(), ...terminalSizeSchema.shape }));
export type ResizeParams = z.output<ReturnType<typeof resizeSchema>>;

const closeStdinSchema = lazily(() => z.object({ processId: z.string() }));
export type CloseStdinParams = z.output<ReturnType<typeof closeStdinSchema>>;

/** Validates the parameters of `process/start`. @throws RpcError `invalidParams` */
export const decodeStart = (params: unknown): StartParams => decodeParams(startSchema, params, "ExecParams");
/** Validates the parameters of `process/read`. @throws RpcError `invalidParams` */
export const decodeRead = (params: unknown): ReadParams =>
  decodePlainRead(params) ?? decodeParams(readSchema, params, "ReadParams");
/** Validates the parameters of `process/write`. @throws RpcError `invalidParams` */
export const decodeWrite = (params: unknown): WriteParams => decodeParams(writeSchema, params, "WriteParams");
/** Validates the parameters of `process/signal`. @throws RpcError `invalidParams` */
export const decodeSignal = (params: unknown): SignalParams => decodeParams(signalSchema, params, "SignalParams");
/** Validates the parameters of `process/terminate`. @throws RpcError `invalidParams` */
export const decodeTerminate = (params: unknown): TerminateParams =>
  decodeParams(terminateSchema, params, "TerminateParams");
/** Validates the parameters of `process/resize`. @throws RpcError `invalidParams` */
export const decodeResize = (params: unknown): ResizeParams => decodeParams(resizeSchema, params, "ResizeParams");
/** Validates the parameters of `process/closeStdin`. @throws RpcError `invalidParams` */
export const decodeCloseStdin = (params: unknown): CloseStdinParams =>
  decodeParams(closeStdinSchema, params, "CloseStdinParams");

/** A fast path for frequent params, without a schema. Undefined for anything else, which the schema decodes or rejects. */
function decodePlainRead(params: unknown): ReadParams | undefined {
  if (typeof params !== "object" || params === null) return undefined;
  const members: Partial<Record<keyof ReadParams, unknown>> = params;
  const { processId } = members;
  const afterSeq = members.afterSeq ?? 0;
  const maxBytes = members.maxBytes ?? undefined;
  const waitMs = members.waitMs ?? 0;
  if (typeof processId !== "string" || !isUnsigned(afterSeq) || !isUnsigned(waitMs)) return undefined;
  return maxBytes === undefined || isUnsigned(maxBytes) ? { processId, afterSeq, maxBytes, waitMs } : undefined;
}

const isUnsigned = (value: unknown): value is number =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0;

/** Decoders of the params of `process/*`, by the name of the method. Each throws an RpcError that names the member. */
export const processDecoders = {
  start: decodeStart,
  read: decodeRead,
  write: decodeWrite,
  signal: decodeSignal,
  terminate: decodeTerminate,
  resize: decodeResize,
  closeStdin: decodeCloseStdin,
} as const;
