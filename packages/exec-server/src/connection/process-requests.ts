import { EncodedResponse, ErrorResponse, type TraceContext } from "@codex/channel";
import type { ProcessSignal, TerminationReceipt } from "@codex/exec-backend";
import {
  decodeNoParams,
  ERROR_CODES,
  encodeResult,
  METHODS,
  processDecoders,
  type ReadParams,
  type SignalParams,
  type StartParams,
  type TerminateParams,
  type WriteParams,
  type WriteResult,
} from "@codex/exec-server-protocol";
import { defined } from "@codex/values";
import type { ManagedProcess } from "../session/managed-process.js";
import type { Session } from "../session/session.js";
import { toNetworkSpec } from "./network-spec.js";
import type { PacedQueue } from "./paced-queue.js";
import { applySnapshot, type SpecDefaults, toProcessSpec } from "./process-spec.js";

/** Collaborators of the process requests of one connection. */
export interface ProcessHost {
  session: Session;
  /** Queue of the reads of output. */
  reads: PacedQueue;
  defaults: SpecDefaults;
  /** Aborts when the client sends nothing more, which ends long polls. */
  ended: AbortSignal;
  /** The trace that the request belongs to. */
  trace: TraceContext | undefined;
}

/** A request with decoded params. */
export type ProcessRequest = (host: ProcessHost) => unknown;

/** The `process/*` requests by name. A function throws RpcError for bad params. */
export const PROCESS_REQUESTS: ReadonlyMap<string, (params: unknown) => ProcessRequest> = new Map([
  [METHODS.processStart, request(processDecoders.start, start)],
  [METHODS.processRead, request(processDecoders.read, read)],
  [METHODS.processWrite, request(processDecoders.write, write)],
  [METHODS.processSignal, request(processDecoders.signal, signal)],
  [METHODS.processTerminate, request(processDecoders.terminate, terminate)],
  [
    METHODS.processResize,
    request(processDecoders.resize, ({ session }, { processId, ...size }) =>
      session.use(processId, async (process) => {
        if (process === undefined) return unknownProcess(processId);
        await process.resize(size);
        return {};
      }),
    ),
  ],
  [
    METHODS.processCloseStdin,
    request(processDecoders.closeStdin, ({ session }, { processId }) =>
      session.use(processId, async (process) => {
        if (process === undefined) return unknownProcess(processId);
        await process.closeStdin();
        return {};
      }),
    ),
  ],
  [METHODS.processList, request(decodeNoParams, ({ session }) => ({ processes: session.list().map(describe) }))],
]);

function request<Params>(
  decode: (params: unknown) => Params,
  run: (host: ProcessHost, params: Params) => unknown,
): (params: unknown) => ProcessRequest {
  return (params) => {
    const decoded = decode(params);
    return (host) => run(host, decoded);
  };
}

/** The response is sent before the first event of the process. */
async function start({ session, defaults, trace }: ProcessHost, params: StartParams): Promise<unknown> {
  const { networkProxy } = params;
  const network = networkProxy && toNetworkSpec(params.processId, networkProxy, session);
  const requested = { ...toProcessSpec(params, defaults), trace, ...defined({ network }) };
  // `session.start` reserves the id in this turn, before anything is awaited.
  const applied = params.shellSnapshot === undefined ? undefined : applySnapshot(params, requested, defaults.snapshots);
  const process = await session.start(params.processId, applied?.then(({ spec }) => spec) ?? requested);
  const note = (await applied)?.note;
  const startup = note === undefined ? {} : { shellStartup: note };
  const result = { processId: params.processId, sandboxType: process.sandboxType, ...startup };
  return encoded(result, () => session.announce(process));
}

function read(host: ProcessHost, params: ReadParams): unknown {
  const { processId } = params;
  return host.session.use(processId, (process) =>
    process === undefined ? unknownProcess(processId) : readOutput(process, host, params),
  );
}

async function readOutput(process: ManagedProcess, host: ProcessHost, params: ReadParams): Promise<unknown> {
  const { session, reads, ended } = host;
  const { afterSeq, waitMs, maxBytes } = params;
  if (waitMs > 0) await process.waitForEvents(afterSeq, waitMs, ended);
  return reads.run(async () => {
    const { chunks, evictedBefore, outcome, ...state } = await process.read({ afterSeq, maxBytes });
    return encoded({
      chunks: chunks.map(({ seq, stream, bytes }) => ({ seq, stream, chunk: bytes.toString("base64") })),
      ...state,
      failure: null,
      ...(session.reportsOutcomes && outcome !== undefined ? { outcome } : {}),
      // Extensions, present only where there is a gap: number of the first chunk, and bytes of output before it.
      ...(evictedBefore !== undefined && chunks[0] !== undefined
        ? { truncatedBefore: chunks[0].seq, bytesBefore: evictedBefore }
        : {}),
    });
  });
}

/** A response that calls `onSent` when it was handed to the channel. */
function encoded(result: unknown, onSent: () => void = () => {}): EncodedResponse {
  return new EncodedResponse((id) => {
    // The peer sends the result in the same turn.
    queueMicrotask(onSent);
    return encodeResult(id, result);
  });
}

function write({ session }: ProcessHost, { processId, chunk, writeId }: WriteParams): unknown {
  return session.use(processId, async (process): Promise<WriteResult & { accepted?: boolean }> => {
    const status = process === undefined ? "unknownProcess" : await process.write(writeId, chunk);
    // The first exec-servers had no write ids and answered with `accepted`.
    return writeId === undefined ? { status, accepted: status === "accepted" } : { status };
  });
}

const SIGNALS = {
  interrupt: "SIGINT",
  terminate: "SIGTERM",
  hangup: "SIGHUP",
} as const satisfies Record<SignalParams["signal"], ProcessSignal>;

/** Succeeds for a process that is unknown or over, as with Codex. */
function signal({ session }: ProcessHost, { processId, signal: name }: SignalParams): unknown {
  return session.use(processId, async (process) => {
    await process?.signal(SIGNALS[name]);
    return {};
  });
}

async function terminate({ session }: ProcessHost, { processId, graceMs }: TerminateParams): Promise<unknown> {
  const receipt = await session.terminate(processId, graceMs);
  // `graceMs` is an extension, so such a client understands the receipt.
  if (typeof receipt === "object") return describeReceipt(receipt);
  return { running: receipt === "cancelled" || receipt === "killed" };
}

function describeReceipt({ running, members, strays, signals, gone }: TerminationReceipt) {
  const listed = defined({ members, strays });
  return { running, signals, gone, ...listed };
}

const unknownProcess = (processId: string): ErrorResponse =>
  new ErrorResponse(ERROR_CODES.invalidRequest, `unknown process id ${processId}`);

function describe({ id, pid, running, exitCode, closed, nextSeq }: ManagedProcess) {
  return { processId: id, pid: pid ?? null, running, exitCode, closed, nextSeq };
}
