import {
  type OrchestratorMessage,
  type OutputPosition,
  type OutputStream,
  type ToolCallOutcome,
  toolCallOutcomeSchema,
  type UnansweredCall,
} from "@codex/executor-protocol";
import { describeFault } from "@codex/telemetry";
import { messageOf, quote } from "@codex/values";
import { ToolError, toErrorOutcome } from "../errors.js";
import type { ExecutorTelemetry } from "../executor-telemetry.js";
import type { Ledger } from "../idempotency/ledger.js";
import type { ExecutorLimits } from "../limits.js";
import type { Outbox } from "../output/outbox.js";
import { ToolOutput } from "../output/tool-output.js";
import type { CallScope } from "../sessions/call-scope.js";
import type { UnifiedExec } from "../sessions/unified-exec.js";
import type { SessionTool } from "../tools/session-tool.js";
import type { ToolCallContext, ToolRegistry } from "../tools/tool-registry.js";
import { type CallRecord, CallRecords } from "./call-records.js";
import { presentOutcome } from "./present-outcome.js";

type CallMessage = Extract<OrchestratorMessage, { type: "call_tool" }>;

/** What an orchestrator that resumes has received, and which results it still waits for. */
export type ResumedState = Pick<
  Extract<OrchestratorMessage, { type: "initialize" }>,
  "received" | "unanswered" | "givenUp"
>;

export interface Resumed {
  /** Calls that never arrived. */
  resend: string[];
  /** The largest number of a call that arrived. */
  lastSequence: number;
  /** Sends the results that are available again. Resolves when they were sent. */
  resendResults: () => Promise<void>;
}

export interface CallsOptions {
  outbox: Outbox;
  sessionTools: ReadonlyMap<string, SessionTool>;
  registry: ToolRegistry;
  unifiedExec: UnifiedExec;
  ledger: Ledger;
  limits: Pick<ExecutorLimits, "inFlightCalls" | "unacknowledgedResults" | "unacknowledgedBytes">;
  /** Whether the orchestrator can come back over another channel. */
  isResumable: () => boolean;
  telemetry: ExecutorTelemetry;
}

/** The tool calls of one orchestrator: those in progress, and those whose result it may not have received. */
export class Calls {
  readonly #options: CallsOptions;
  readonly #records: CallRecords;
  /** Calls without an outcome, by request id. */
  readonly #inProgress = new Map<string, CallRecord>();
  /** Calls whose response the channel has not accepted yet: an orchestrator that does not read can make this grow. */
  readonly #running = new Set<Promise<void>>();
  readonly #toolOutputs = new Map<number, ToolOutput>();
  /** The largest `sequence` of a call that has arrived. */
  #lastSequence = 0;
  /** Counts calls that have arrived. */
  #arrived = 0;
  #isDraining = false;

  constructor(options: CallsOptions) {
    this.#options = options;
    this.#records = new CallRecords(options.limits);
  }

  /** Whether a call is in progress. */
  get isBusy(): boolean {
    return this.#inProgress.size > 0;
  }

  /** Whether there is a result that may not have been received. */
  get hasUnreceivedResults(): boolean {
    return this.#records.size > 0;
  }

  /** The number of calls that have arrived, and whether the response to one is still to be sent. */
  get traffic(): { arrived: number; isIdle: boolean } {
    return { arrived: this.#arrived, isIdle: this.#running.size === 0 };
  }

  /** From now on only the tools for sessions can be called. */
  drain(): void {
    this.#isDraining = true;
  }

  has(requestId: string): boolean {
    return this.#inProgress.has(requestId);
  }

  /** Whether the call has arrived before: over an earlier channel, or with the same sequence number. */
  isRepeat({ requestId, sequence }: UnansweredCall): boolean {
    if (sequence !== undefined) return sequence <= this.#lastSequence;
    const record = this.#records.get(requestId);
    return record !== undefined && record.epoch !== this.#options.outbox.epoch;
  }

  /** Starts a call, whose response is sent later. Resolves when the next message may be handled. */
  async start(message: CallMessage): Promise<void> {
    if (this.isRepeat(message)) return this.#resendResult(message);
    this.#lastSequence = message.sequence ?? this.#lastSequence;
    this.#arrived += 1;
    const { inFlightCalls } = this.#options.limits;
    const record = this.#open(message);
    if (this.#running.size >= inFlightCalls) {
      const problem = `too many concurrent tool calls (limit ${inFlightCalls} calls); wait for one to complete`;
      return this.#finish(record, { status: "error", message: problem });
    }
    this.#track(this.#run(message, record));
  }

  /** Ends the wait of a call. Does nothing for a call that has completed. */
  cancel(requestId: string): void {
    this.#inProgress.get(requestId)?.wait.abort();
  }

  cancelAll(): void {
    for (const { wait } of this.#inProgress.values()) wait.abort();
  }

  /** Resolves when the response to every call was sent. */
  async settle(): Promise<void> {
    await Promise.all(this.#running);
  }

  /** The orchestrator has received the results of these request ids, and live output up to these offsets. */
  acknowledge(results: readonly string[], output: readonly OutputPosition[]): void {
    for (const { processId, offset } of output) this.#toolOutputs.get(processId)?.live.acknowledge(offset);
    this.#options.unifiedExec.acknowledge(output);
    for (const requestId of results) {
      const record = this.#records.get(requestId);
      if (record?.outcome !== undefined) this.#records.remove(record);
    }
  }

  /** Forgets completed calls: no result will be requested again. */
  forgetAll(): void {
    for (const record of this.#records.list()) if (record.outcome !== undefined) this.#records.remove(record);
  }

  /**
   * Continues over another channel. Live output continues after what was received; results that the orchestrator still waits
   * for are sent again by `resendResults`, which is to be called after everything else was sent.
   */
  resume({ received = [], unanswered, givenUp = [] }: ResumedState): Resumed {
    const wanted = unanswered === undefined ? undefined : new Set(unanswered.map(({ requestId }) => requestId));
    const abandoned = new Set(givenUp);
    const positions = new Map(received.map(({ processId, offset }) => [processId, offset]));
    // Newest first: a result can be undone only while there is no later one.
    for (const record of this.#records.list().reverse()) {
      if (wanted === undefined || wanted.has(record.requestId)) continue;
      if (record.outcome === undefined || abandoned.has(record.requestId)) this.#giveUp(record);
      else this.#records.remove(record); // received, but not acknowledged
    }
    this.#options.unifiedExec.resume(positions);
    for (const { processId, live } of this.#toolOutputs.values()) {
      live.rewind(positions.get(processId));
    }
    const again = (unanswered ?? this.#records.list()).filter((call) => this.#hasArrived(call));
    const resend = (unanswered ?? []).filter((call) => !this.#hasArrived(call)).map(({ requestId }) => requestId);
    const resendResults = async () => void (await Promise.all(again.map((call) => this.#resendResult(call))));
    return { resend, lastSequence: this.#lastSequence, resendResults };
  }

  #hasArrived(call: UnansweredCall): boolean {
    return this.#records.get(call.requestId) !== undefined || this.isRepeat(call);
  }

  #open({ requestId, toolName }: CallMessage): CallRecord {
    const { epoch } = this.#options.outbox;
    const wait = new AbortController();
    const record = { requestId, toolName, epoch, wait, outcome: undefined, kept: undefined, givenUp: false };
    this.#records.add(record);
    return record;
  }

  /** Resolves when the result was sent; immediately for a call in progress, whose result is sent like any other. */
  async #resendResult({ requestId }: UnansweredCall): Promise<void> {
    const { outbox } = this.#options;
    const record = this.#records.get(requestId);
    if (record === undefined) {
      const message = "this call was made before and is not made again; its result is no longer retained";
      await outbox.send({ type: "error", requestId, message });
      return;
    }
    if (record.outcome === undefined) return;
    const sent = this.#deliver(record, () => this.#records.get(requestId) === record);
    this.#track(sent);
    await sent;
  }

  /** The result will not be received: the next one covers what it reported. */
  #giveUp(record: CallRecord): void {
    record.givenUp = true;
    record.wait.abort();
    if (record.outcome === undefined) return;
    record.kept?.undo();
    this.#records.remove(record);
  }

  #track(run: Promise<void>): void {
    this.#running.add(run);
    void run.then(() => this.#running.delete(run));
  }

  async #run(message: CallMessage, record: CallRecord): Promise<void> {
    this.#inProgress.set(record.requestId, record);
    let resolveAnswered!: () => void;
    const answered = new Promise<void>((resolve) => {
      resolveAnswered = resolve;
    });
    const watch = this.#options.telemetry.beginCall(message);
    const outcome = await this.#call(message, record, { answered, trace: watch.trace });
    watch.end(outcome);
    // Before the response is sent: the orchestrator may reuse the id immediately.
    this.#inProgress.delete(record.requestId);
    await this.#finish(record, outcome);
    resolveAnswered();
  }

  /** Resolves when the outcome of the call was sent. */
  async #finish(record: CallRecord, outcome: ToolCallOutcome): Promise<void> {
    record.outcome = outcome;
    if (record.givenUp) return this.#giveUp(record);
    if (this.#options.isResumable()) this.#records.keep(record);
    else this.#records.remove(record);
    await this.#deliver(record);
  }

  /**
   * Sends a result after the live output that belongs to it, which may have been lost with a channel. When the orchestrator
   * resumes in the meantime, the result is sent again in any case.
   */
  async #deliver(record: CallRecord, isWanted: () => boolean = () => true): Promise<void> {
    const { outbox } = this.#options;
    const { epoch } = outbox;
    await record.kept?.replay();
    if (epoch === outbox.epoch && isWanted()) await this.#send(record);
  }

  /** Never rejects: whatever a tool does becomes an outcome. */
  async #call(
    message: CallMessage,
    record: CallRecord,
    { answered, trace }: Pick<CallScope, "answered" | "trace">,
  ): Promise<ToolCallOutcome> {
    const { toolName } = message;
    const { ledger, outbox } = this.#options;
    const keep = (kept: CallRecord["kept"]) => {
      record.kept = kept;
    };
    const scope: CallScope = {
      requestId: message.requestId,
      signal: record.wait.signal,
      endWait: () => record.wait.abort(),
      answered,
      trace,
      client: message.client,
      keep: outbox.acknowledges && this.#options.isResumable() ? keep : undefined,
    };
    try {
      const { idempotencyKey: key, client = "" } = message;
      if (key === undefined) return await this.#callTool(message, scope);
      // A failure is a result as well, and returned to a repeat.
      const run = () => this.#callTool(message, scope).catch((error: unknown) => this.#describeFailure(message, error));
      return await ledger.run({ scope: JSON.stringify(["tool", toolName, client]), key }, scope, run);
    } catch (error) {
      return this.#describeFailure(message, error);
    }
  }

  #describeFailure({ requestId, toolName }: CallMessage, error: unknown): ToolCallOutcome {
    if (error instanceof ToolError) return toErrorOutcome(error);
    const tool = quote(toolName);
    this.#options.telemetry.log.error?.("tool threw", { requestId, tool, ...describeFault(error) });
    return { status: "error", message: `tool \`${tool}\` failed: ${messageOf(error)}` };
  }

  async #callTool(
    { toolName, arguments: args, sessionScope }: CallMessage,
    scope: CallScope,
  ): Promise<ToolCallOutcome> {
    const { unifiedExec, sessionTools, registry } = this.#options;
    const own = sessionTools.get(toolName);
    if (own !== undefined) return await own.call(args, unifiedExec, { ...scope, sessions: sessionScope ?? "own" });
    if (this.#isDraining) throw new ToolError("the executor is shutting down; the tool was not called");
    const tool = registry.get(toolName);
    if (tool === undefined) return { status: "error", message: `unknown executor tool \`${quote(toolName)}\`` };
    const { context, finish } = this.#createContext(scope);
    try {
      return checkOutcome(toolName, await tool.call(args, context));
    } finally {
      await finish();
    }
  }

  #createContext({ requestId, signal, keep }: CallScope): { context: ToolCallContext; finish: () => Promise<void> } {
    const { outbox, unifiedExec } = this.#options;
    let output: ToolOutput | undefined;
    const emitOutput = (bytes: Uint8Array, stream: OutputStream = "stdout") => {
      if (!outbox.isLive()) return Promise.resolve();
      output ??= this.#openOutput(requestId, unifiedExec.table.reserveOutput());
      return output.emit(Buffer.from(bytes), stream);
    };
    const finish = async () => {
      if (output === undefined) return;
      const { processId } = output;
      const kept = await output.finish();
      const release = () => {
        kept.release();
        this.#toolOutputs.delete(processId);
        unifiedExec.table.retireId(processId);
      };
      if (keep === undefined) release();
      else keep({ ...kept, release });
    };
    return { context: { requestId, signal, emitOutput }, finish };
  }

  #openOutput(requestId: string, processId: number): ToolOutput {
    const output = new ToolOutput(requestId, this.#options.outbox, processId);
    this.#toolOutputs.set(processId, output);
    return output;
  }

  async #send(record: CallRecord): Promise<void> {
    const { outbox } = this.#options;
    const { requestId, toolName, outcome } = record;
    if (outcome === undefined) return;
    const sent = outbox.rendersResults ? outcome : presentOutcome(toolName, outcome);
    const problem = await outbox.send({ type: "call_tool_response", requestId, toolName, outcome: sent });
    if (problem === undefined) return;
    const message = `the result of \`${quote(toolName)}\` could not be sent: ${problem}`;
    record.outcome = { status: "error", message };
    await outbox.send({ type: "call_tool_response", requestId, toolName, outcome: record.outcome });
  }
}

function checkOutcome(toolName: string, outcome: unknown): ToolCallOutcome {
  const parsed = toolCallOutcomeSchema.safeParse(outcome);
  if (parsed.success) return parsed.data;
  throw new ToolError(`tool \`${quote(toolName)}\` returned no valid result`);
}
