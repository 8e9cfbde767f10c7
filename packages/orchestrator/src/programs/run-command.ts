import type { Clock } from "@codex/clock";
import {
  type CallReply,
  describeReply,
  type ExecutorConnection,
  type IncomingOutput,
  type LiveOutput,
  type OutputPiece,
  OutputTracker,
} from "@codex/executor-client";
import type {
  ExecCommandRequest,
  ProcessOutcome,
  Sandbox,
  SessionSignal,
  TerminalSize,
  UnifiedExecResult,
  WriteStdinRequest,
} from "@codex/executor-protocol";
import { unifiedExecResultSchema } from "@codex/executor-protocol";
import { messageOf } from "@codex/telemetry";
import { safeParse } from "zod/mini";
import { OrchestratorError } from "../errors.js";
import { FIRST_WINDOW_MS } from "../limits.js";
import { OutputStream } from "../output/output-stream.js";
import { type OnOutput, teeOutput } from "../output/tee-output.js";

/** A program to be followed from its start to its end, for a person or a program rather than for a model. */
export interface RunCommandRequest {
  /** Final argv: no shell is put in front of it. */
  argv: readonly string[];
  /** Absolute directory on the executor's host; default the executor's own. */
  cwd?: string;
  /** The complete environment, or the overlay when `envPolicy` is given. */
  env: Readonly<Record<string, string>>;
  envPolicy?: ExecCommandRequest["envPolicy"];
  tty: boolean;
  size?: TerminalSize;
  /** `open` keeps a pipe writable; no effect on a terminal. */
  stdin?: "null" | "open";
  /** What holds it; default nothing. An executor that cannot hold it, or allows only less, refuses the program. */
  sandbox?: Sandbox;
  /** Ends the program, milliseconds. */
  timeoutMs?: number;
}

/** A program that runs. Calls are carried out in their order. */
export interface RunningCommand {
  /** Resolves when the executor has handed the bytes on: awaiting it holds a fast writer back. */
  write(bytes: Uint8Array): Promise<void>;
  /** @throws OrchestratorError `unsupported` where the host cannot, as an exec-server of Codex 0.169.0: the program may wait for it */
  closeStdin(): Promise<void>;
  resize(size: TerminalSize): Promise<void>;
  signal(name: SessionSignal): Promise<void>;
  /**
   * Live output for one loop, which ends with the program's output: from the first byte on, or with `onOutput` from the
   * first access to this property. A loop that has begun holds the program back, and so does output before a loop has
   * begun, until `ended` is awaited: then about 1 MiB is kept. Leaving the loop discards the rest. `dropped` of a piece
   * is the range that is missing before it.
   */
  readonly output: AsyncIterable<LiveOutput>;
  /** How it ended; resolves after its last byte of output was delivered. Never rejects. */
  readonly ended: Promise<RunOutcome>;
}

/** `refused`: nothing was started; the reason is the executor's, and its code where it has one. `lost`: whether it still runs is unknown. */
export type RunOutcome =
  | { kind: "ended"; outcome: ProcessOutcome; exitCode: number | undefined; timedOut?: true; denial?: SandboxDenial }
  | { kind: "refused"; reason: string; code?: string }
  | { kind: "lost"; reason: string };

/** What its sandbox refused a program, in a sentence; not `certain` when that is guessed from its output. */
export type SandboxDenial = NonNullable<UnifiedExecResult["sandboxDenial"]>;

export interface RunHooks {
  /** Called in order, from the first byte on; a promise holds the executor back until it settles. */
  onOutput: OnOutput | undefined;
  /** Ends the program. */
  signal: AbortSignal | undefined;
  clock: Clock;
  /** Added to the window before an answer is given up, ms. */
  answerMarginMs: number;
  /** A fresh key for what must not happen twice. */
  newKey: () => string;
}

/** The longest wait of one call, ms; the executor's own bound. A call that ends without news is followed by another. */
const WINDOW_MS = 300_000;

/** Between SIGTERM and SIGKILL for a program that was aborted, ms. */
const ABORT_GRACE_MS = 2_000;

/** Starts a program that its user approved by asking for it. @throws OrchestratorError when the executor cannot stream. */
export function runCommand(executor: ExecutorConnection, request: RunCommandRequest, hooks: RunHooks): RunningCommand {
  const exec = [...executor.tools.values()].find((tool) => tool.contract === "unified_exec.exec_command");
  const stdin = [...executor.tools.values()].find((tool) => tool.contract === "unified_exec.write_stdin");
  if (exec === undefined || stdin === undefined || !executor.can("tool_output") || executor.host === undefined) {
    const missing = "it does not offer unified exec with live output";
    throw new OrchestratorError(
      "unsupported",
      `executor \`${executor.name}\` cannot run a program for a person: ${missing}`,
    );
  }
  return new CommandFollower(executor, { exec: exec.name, stdin: stdin.name }, hooks).start(request, executor.host.cwd);
}

type Step = Partial<Pick<WriteStdinRequest, "input" | "inputEncoding" | "closeStdin" | "resize" | "signal">>;

interface QueuedStep {
  step: Step;
  resolve(): void;
  reject(error: Error): void;
}

class CommandFollower implements RunningCommand {
  readonly #ended: Promise<RunOutcome>;
  /** Undefined while a callback is the only reader: what is read fast must not pay for what nobody uses. */
  #output: OutputStream | undefined;
  #onOutput: OnOutput;
  readonly #executor: ExecutorConnection;
  readonly #tools: { exec: string; stdin: string };
  readonly #hooks: RunHooks;
  readonly #tracker = new OutputTracker();
  readonly #queue: QueuedStep[] = [];
  #end!: (outcome: RunOutcome) => void;
  #over: RunOutcome | undefined;
  /** Ends the current wait early; undefined while there is none. */
  #interruptWait: (() => void) | undefined;
  #waitsIdle = false;
  /** Of an executor that takes steps beside a wait: ends the wait for the one under way. */
  #interruptStep: (() => void) | undefined;
  /** The session that takes steps beside the wait, while its program runs. */
  #direct: number | undefined;

  constructor(executor: ExecutorConnection, tools: { exec: string; stdin: string }, hooks: RunHooks) {
    this.#executor = executor;
    this.#tools = tools;
    this.#hooks = hooks;
    this.#output = hooks.onOutput === undefined ? new OutputStream() : undefined;
    this.#onOutput = hooks.onOutput ?? teeOutput(this.output, undefined);
    this.#ended = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  get output(): OutputStream {
    if (this.#output === undefined) {
      this.#output = new OutputStream();
      this.#onOutput = teeOutput(this.#output, this.#hooks.onOutput);
      if (this.#over !== undefined) this.#output.end();
    }
    return this.#output;
  }

  get ended(): Promise<RunOutcome> {
    this.#output?.stopHolding("while read");
    return this.#ended;
  }

  start(request: RunCommandRequest, defaultCwd: string): this {
    const { signal } = this.#hooks;
    if (signal?.aborted) {
      this.#finish({ kind: "refused", reason: "it was aborted before it was started", code: "aborted" });
      return this;
    }
    if (signal !== undefined) this.#endOnAbort(signal);
    const idempotencyKey = this.#hooks.newKey();
    void this.#follow({ ...toWire(request, defaultCwd), idempotencyKey }).catch((error: unknown) =>
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
      if (step.input === undefined || this.#waitsIdle) this.#interruptWait?.();
    });
  }

  /** One at a time, beside the wait for the end. */
  async #sendSteps(processId: number): Promise<void> {
    if (this.#interruptStep !== undefined) return;
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
      const { requestId, reply } = this.#executor.call({
        toolName: this.#tools.stdin,
        arguments: { ...toWait(processId), concurrent: true, until: "written", ...this.#toWrite(next) },
        isInstanceBound: true,
        deadlineMs: WINDOW_MS + this.#hooks.answerMarginMs,
      });
      this.#interruptStep = () => this.#executor.cancel(requestId);
      // What is to be done behind it does not wait for the program either.
      if (this.#queue.some(({ step }) => step.input === undefined)) this.#interruptStep();
      settle(next, await reply);
      this.#interruptStep = undefined;
      if (this.#direct === undefined) return;
    }
  }

  /** One call at a time: the start, then a wait, which a step cuts short where it cannot go beside it, until the end. */
  async #follow(request: ExecCommandRequest): Promise<void> {
    let result = this.#read(await this.#call(this.#tools.exec, request, FIRST_WINDOW_MS));
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
      if (queued !== undefined) settle(queued, reply);
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

  /** Reads the rest of the output after the exit, until it is complete or a process that still holds it is silent. */
  async #followRest(last: UnifiedExecResult): Promise<void> {
    const { processId } = this.#tracker;
    for (let rest: UnifiedExecResult | undefined = last; rest !== undefined && !rest.closed; ) {
      if (processId === undefined) break;
      const body = { ...toWait(processId), yieldTimeMs: 0, until: "output" as const };
      const reply = await this.#call(this.#tools.stdin, body, 0);
      // A session whose end was answered with all of its output is not there any more.
      const next: UnifiedExecResult | undefined = failureOf(reply) === undefined ? parseResult(reply) : undefined;
      rest = next !== undefined && next.range.to > next.range.from ? next : undefined;
    }
    const { outcome, exitCode, timedOut: told, sandboxDenial: denial } = last;
    const timedOut: boolean = told ?? (outcome.kind === "signaled" && outcome.by === "timeout");
    const late = timedOut ? { timedOut: true as const } : {};
    this.#finish({ kind: "ended", outcome, exitCode, ...late, ...(denial === undefined ? {} : { denial }) });
  }

  /** With a key where it does something. */
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
    return result;
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

function settle(queued: QueuedStep, reply: CallReply): void {
  const failure = failureOf(reply);
  if (failure === undefined) queued.resolve();
  else queued.reject(toError(reply, failure));
}

/** Of an answer that is no failure. */
function parseResult(reply: CallReply): UnifiedExecResult | undefined {
  if (reply.kind !== "answer" || reply.message.outcome.status !== "success") return undefined;
  return safeParse(unifiedExecResultSchema, reply.message.outcome.structured).data;
}

function refusal({ message: { outcome } }: Extract<CallReply, { kind: "answer" }>, reason: string): RunOutcome {
  const code = outcome.status === "error" ? outcome.code : undefined;
  return { kind: "refused", reason, ...(code === undefined ? {} : { code }) };
}

/** Of a step that was refused. */
const toError = (reply: CallReply, failure: string): Error =>
  reply.kind === "answer" && reply.message.outcome.status === "error" && reply.message.outcome.code === "unsupported"
    ? new OrchestratorError("unsupported", failure)
    : new Error(failure);

const isOver = (result: UnifiedExecResult): boolean => result.outcome.kind !== "running";

function failureOf(reply: CallReply): string | undefined {
  if (reply.kind !== "answer") return describeReply(reply);
  const { outcome } = reply.message;
  return outcome.status === "error" ? outcome.message : undefined;
}

function toWire(request: RunCommandRequest, defaultCwd: string): ExecCommandRequest {
  const { argv, cwd, env, envPolicy, tty, size, stdin, sandbox, timeoutMs } = request;
  return {
    command: [...argv],
    cwd: cwd ?? defaultCwd,
    env: { ...env },
    tty,
    yieldTimeMs: FIRST_WINDOW_MS,
    maxOutputTokens: 0,
    sandboxPermissions: "use_default",
    additionalPermissions: null,
    additionalPermissionsPreapproved: false,
    justification: null,
    execApprovalRequirement: { skip: { bypassSandbox: false, proposedExecPolicyAmendment: null } },
    ...(envPolicy === undefined ? {} : { envPolicy }),
    ...(sandbox === undefined ? {} : { sandbox }),
    ...(size === undefined ? {} : { size }),
    ...(stdin === undefined ? {} : { stdin }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    // A person sees all of it, also when the channel was away for a while.
    whenFull: "pause",
  };
}
