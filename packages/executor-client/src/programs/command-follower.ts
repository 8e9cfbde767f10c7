import type { Clock } from "@codex/clock";
import type {
  ByteRange,
  ExecCommandRequest,
  SessionSignal,
  TerminalSize,
  UnifiedExecResult,
  WriteStdinRequest,
} from "@codex/executor-protocol";
import { unifiedExecResultSchema } from "@codex/executor-protocol";
import { defined, messageOf } from "@codex/values";
import { describeReply } from "../connection/describe-reply.js";
import type { CallReply, ExecutorConnection } from "../connection/executor-connection.js";
import { type IncomingOutput, OutputTracker } from "../connection/live-output.js";
import type { OutputPiece } from "../connection/output-queue.js";
import { ExecutorConnectionError } from "../errors.js";
import { FIRST_WINDOW_MS } from "../limits.js";
import { LiveOutputStream } from "./live-output-stream.js";
import type { RunningCommand, RunOutcome } from "./running-command.js";
import { type OnOutput, teeOutput } from "./tee-output.js";

/** Callbacks and settings with which a program is followed. */
export interface RunHooks {
  /** Called in order, from the first byte on; a promise holds the executor back until it settles. */
  onOutput: OnOutput | undefined;
  /** Ends the program. */
  signal: AbortSignal | undefined;
  clock: Clock;
  /** Time beyond the window after which a response counts as missing, milliseconds. */
  answerMarginMs: number;
  /** Creates an idempotency key. */
  newKey: () => string;
  /** The client on whose behalf the program runs. */
  client?: string | undefined;
  /** Called with the first result, when the program runs or has already ended, and with the last. Must not throw. */
  onResult?: (result: UnifiedExecResult) => void;
  /** Converts a failure to the error that a caller gets; default the failure itself. */
  toError?: (failure: ExecutorConnectionError) => Error;
}

/** The tools by which an executor runs programs; undefined where it has none with live output. */
export function findProgramTools(executor: ExecutorConnection): { exec: string; stdin: string } | undefined {
  const exec = [...executor.tools.values()].find((tool) => tool.contract === "unified_exec.exec_command");
  const stdin = [...executor.tools.values()].find((tool) => tool.contract === "unified_exec.write_stdin");
  if (exec === undefined || stdin === undefined || !executor.can("tool_output")) return undefined;
  return { exec: exec.name, stdin: stdin.name };
}

/** The longest wait of one call, ms; the executor's own bound. A call that returns nothing new is followed by another. */
export const WINDOW_MS = 300_000;

/** Between SIGTERM and SIGKILL for a program that was aborted, ms. */
const ABORT_GRACE_MS = 2_000;

type Step = Partial<Pick<WriteStdinRequest, "input" | "inputEncoding" | "closeStdin" | "resize" | "signal">>;

interface QueuedStep {
  step: Step;
  resolve(): void;
  reject(error: Error): void;
}

/** Follows one program from its start to its end: a call that starts it, then calls that wait, and concurrent ones for input. */
export class CommandFollower implements RunningCommand {
  readonly #ended: Promise<RunOutcome>;
  /** Undefined while a callback is the only reader: a fast reader must not pay for an unused buffer. */
  #output: LiveOutputStream | undefined;
  #onOutput: OnOutput;
  readonly #executor: ExecutorConnection;
  readonly #tools: { exec: string; stdin: string };
  readonly #hooks: RunHooks;
  readonly #tracker = new OutputTracker();
  readonly #queue: QueuedStep[] = [];
  readonly #estimated: ByteRange[] = [];
  #end!: (outcome: RunOutcome) => void;
  #over: RunOutcome | undefined;
  /** Ends the current wait early; undefined while there is none. */
  #interruptWait: (() => void) | undefined;
  #waitsIdle = false;
  #isStarted = false;
  /** For an executor that accepts steps during a wait: ends the wait for the one in progress. */
  #interruptStep: (() => void) | undefined;
  /** The session that accepts steps during the wait, while its program runs. */
  #direct: number | undefined;

  constructor(executor: ExecutorConnection, tools: { exec: string; stdin: string }, hooks: RunHooks) {
    this.#executor = executor;
    this.#tools = tools;
    this.#hooks = hooks;
    this.#output = hooks.onOutput === undefined ? new LiveOutputStream() : undefined;
    this.#onOutput = hooks.onOutput ?? teeOutput(this.output, undefined);
    this.#ended = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  get output(): LiveOutputStream {
    if (this.#output === undefined) {
      this.#output = new LiveOutputStream();
      this.#onOutput = teeOutput(this.#output, this.#hooks.onOutput);
      if (this.#over !== undefined) this.#output.end();
    }
    return this.#output;
  }

  get ended(): Promise<RunOutcome> {
    this.#output?.stopHolding("while read");
    return this.#ended;
  }

  start(request: ExecCommandRequest): this {
    const { signal } = this.#hooks;
    if (signal?.aborted) {
      this.#finish({ kind: "refused", reason: "it was aborted before it was started", code: "aborted" });
      return this;
    }
    if (signal !== undefined) this.#endOnAbort(signal);
    const idempotencyKey = this.#hooks.newKey();
    void this.#follow({ ...request, idempotencyKey }).catch((error: unknown) =>
      this.#finish({ kind: "lost", reason: messageOf(error) }),
    );
    return this;
  }

  #endOnAbort(signal: AbortSignal): void {
    let stopClock = () => {};
    const send = (name: SessionSignal) => void this.signal(name).catch(() => {});
    const onAbort = () => {
      // A slow reader must not delay the signal.
      this.#output?.stopHolding("never");
      send("terminate");
      stopClock = this.#hooks.clock.after(ABORT_GRACE_MS, () => send("kill"));
    };
    signal.addEventListener("abort", onAbort, { once: true });
    void this.#ended.then(() => {
      signal.removeEventListener("abort", onAbort);
      stopClock();
    });
  }

  write(bytes: Uint8Array): Promise<void> {
    return this.#enqueue({ input: Buffer.from(bytes).toString("base64"), inputEncoding: "base64" });
  }

  closeStdin(): Promise<void> {
    return this.#enqueue({ closeStdin: true });
  }

  resize(size: TerminalSize): Promise<void> {
    return this.#enqueue({ resize: size });
  }

  signal(signal: SessionSignal): Promise<void> {
    return this.#enqueue({ signal });
  }

  #enqueue(step: Step): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#over !== undefined) return reject(new Error("the program has ended"));
      this.#queue.push({ step, resolve, reject });
      // Input waits for the program to take what was typed before; everything else does not.
      if (step.input === undefined) this.#interruptStep?.();
      if (this.#direct !== undefined) return void this.#sendSteps(this.#direct);
      if (this.#mayInterrupt(step)) this.#interruptWait?.();
    });
  }

  /** During the start only a signal interrupts: while the host cannot be reached, an interruption gives the start up. */
  #mayInterrupt(step: Step): boolean {
    if (!this.#isStarted) return step.signal !== undefined;
    return step.input === undefined || this.#waitsIdle;
  }

  /** One at a time, concurrently with the wait for the end. */
  async #sendSteps(processId: number): Promise<void> {
    if (this.#interruptStep !== undefined) return;
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
      const { requestId, reply } = this.#executor.call({
        toolName: this.#tools.stdin,
        arguments: { ...toWait(processId), concurrent: true, until: "written", ...this.#toWrite(next) },
        isInstanceBound: true,
        deadlineMs: WINDOW_MS + this.#hooks.answerMarginMs,
        client: this.#hooks.client,
      });
      this.#interruptStep = () => this.#executor.cancel(requestId);
      // Later steps do not wait for the program either.
      if (this.#queue.some(({ step }) => step.input === undefined)) this.#interruptStep();
      settle(next, await reply, this.#hooks);
      this.#interruptStep = undefined;
      if (this.#direct === undefined) return;
    }
  }

  /** One call at a time: the start, then a wait, which a step interrupts if it cannot run concurrently, until the end. */
  async #follow(request: ExecCommandRequest): Promise<void> {
    let result = this.#read(await this.#call(this.#tools.exec, request, FIRST_WINDOW_MS));
    this.#isStarted = true;
    if (result !== undefined) this.#hooks.onResult?.(result);
    while (result !== undefined && !isOver(result)) {
      const processId = result.processId ?? this.#tracker.processId;
      if (processId === undefined) return this.#finish({ kind: "lost", reason: "the executor named no session" });
      this.#tracker.processId = processId;
      if (this.#executor.can("concurrent_input")) this.#takeSteps(processId);
      const queued = this.#direct === undefined ? this.#queue.shift() : undefined;
      this.#waitsIdle = queued === undefined;
      const until = queued === undefined ? {} : { until: "written" as const };
      const body = { ...toWait(processId), ...until, ...this.#toWrite(queued) };
      const reply = await this.#call(this.#tools.stdin, body, WINDOW_MS);
      const failure = queued === undefined ? undefined : failureOf(reply);
      if (queued !== undefined) settle(queued, reply, this.#hooks);
      // A step that was refused, such as input to a closed stdin, is no reason to stop following.
      if (failure === undefined) result = this.#read(reply);
      else if (reply.kind !== "answer") return this.#finish({ kind: "lost", reason: failure });
    }
    this.#direct = undefined;
    if (result !== undefined) await this.#followRest(result);
  }

  #takeSteps(processId: number): void {
    if (this.#direct !== undefined) return;
    this.#direct = processId;
    void this.#sendSteps(processId);
  }

  /** Reads the rest of the output after the exit, until it is complete or a process that still has it open is silent. */
  async #followRest(last: UnifiedExecResult): Promise<void> {
    const { processId } = this.#tracker;
    for (let rest: UnifiedExecResult | undefined = last; rest !== undefined && !rest.closed; ) {
      if (processId === undefined) break;
      const body = { ...toWait(processId), yieldTimeMs: 0, until: "output" as const };
      const reply = await this.#call(this.#tools.stdin, body, 0);
      // A session whose end was reported with all of its output no longer exists.
      const next: UnifiedExecResult | undefined = failureOf(reply) === undefined ? parseResult(reply) : undefined;
      if (next !== undefined) this.#noteEstimated(next);
      rest = next !== undefined && next.range.to > next.range.from ? next : undefined;
    }
    this.#hooks.onResult?.(last);
    const { outcome, exitCode, timedOut: told, sandboxDenial: denial, reachedLimits } = last;
    const timedOut: boolean = told ?? (outcome.kind === "signaled" && outcome.by === "timeout");
    const late = timedOut ? { timedOut: true as const } : {};
    const estimated = this.#estimated.length === 0 ? {} : { estimated: this.#estimated };
    this.#finish({
      kind: "ended",
      outcome,
      exitCode,
      ...late,
      ...defined({ denial, reachedLimits }),
      ...estimated,
    });
  }

  /** Has an idempotency key if it has an effect. */
  #toWrite(queued: QueuedStep | undefined) {
    return queued === undefined ? {} : { ...queued.step, writeId: this.#hooks.newKey() };
  }

  async #call(toolName: string, body: ExecCommandRequest | WriteStdinRequest, windowMs: number): Promise<CallReply> {
    const sent = this.#executor.call({
      toolName,
      arguments: body,
      // Every call after the start names the session.
      isInstanceBound: "processId" in body,
      deadlineMs: windowMs + this.#hooks.answerMarginMs,
      client: this.#hooks.client,
      output: { accept: (output) => this.#accept(output), deliver: (piece) => this.#deliver(piece) },
    });
    if (windowMs > 0) this.#interruptWait = () => this.#executor.cancel(sent.requestId);
    const reply = await sent.reply;
    this.#interruptWait = undefined;
    return reply;
  }

  #accept(output: IncomingOutput): boolean {
    const problem = this.#tracker.findProblem(output);
    if (problem !== undefined) this.#executor.problems.note("invalid_output", problem);
    return problem === undefined;
  }

  #deliver({ processId: sessionId, ...piece }: OutputPiece): void | Promise<void> {
    return this.#executor.problems.guard("onOutput", () => this.#onOutput({ ...piece, sessionId }));
  }

  /** The result of a call. Undefined when there is none: then the end was reported. */
  #read(reply: CallReply): UnifiedExecResult | undefined {
    const failure = failureOf(reply);
    if (failure !== undefined) {
      this.#finish(reply.kind === "answer" ? refusal(reply, failure) : { kind: "lost", reason: failure });
      return undefined;
    }
    const result = parseResult(reply);
    if (result === undefined)
      this.#finish({ kind: "lost", reason: "the executor answered without a structured result" });
    else this.#noteEstimated(result);
    return result;
  }

  #noteEstimated({ omitted }: UnifiedExecResult): void {
    for (const { from, to, estimated } of omitted) if (estimated) this.#estimated.push({ from, to });
  }

  #finish(outcome: RunOutcome): void {
    if (this.#over !== undefined) return;
    this.#over = outcome;
    this.#direct = undefined;
    for (const queued of this.#queue.splice(0)) queued.reject(new Error("the program has ended"));
    this.#output?.end();
    this.#end(outcome);
  }
}

const toWait = (processId: number) => ({ processId, input: "", yieldTimeMs: WINDOW_MS, maxOutputTokens: 0 });

function settle(queued: QueuedStep, reply: CallReply, hooks: RunHooks): void {
  const failure = failureOf(reply);
  if (failure === undefined) queued.resolve();
  else queued.reject(toError(reply, failure, hooks));
}

/** The result in a reply; undefined for a failure. */
export function parseResult(reply: CallReply): UnifiedExecResult | undefined {
  if (reply.kind !== "answer" || reply.message.outcome.status !== "success") return undefined;
  return unifiedExecResultSchema.safeParse(reply.message.outcome.structured).data;
}

function refusal({ message: { outcome } }: Extract<CallReply, { kind: "answer" }>, reason: string): RunOutcome {
  const code = outcome.status === "error" ? outcome.code : undefined;
  return { kind: "refused", reason, ...defined({ code }) };
}

/** The error for a step that was refused. */
function toError(reply: CallReply, failure: string, { toError: wrap = (error) => error }: RunHooks): Error {
  if (reply.kind !== "answer" || reply.message.outcome.status !== "error") return new Error(failure);
  if (reply.message.outcome.code !== "unsupported") return new Error(failure);
  return wrap(new ExecutorConnectionError("unsupported", failure));
}

const isOver = (result: UnifiedExecResult): boolean => result.outcome.kind !== "running";

export function failureOf(reply: CallReply): string | undefined {
  if (reply.kind !== "answer") return describeReply(reply);
  const { outcome } = reply.message;
  return outcome.status === "error" ? outcome.message : undefined;
}
