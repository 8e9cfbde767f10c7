import { setImmediate as nextTurn } from "node:timers/promises";
import type { Clock } from "@codex/clock";
import type { ExecBackend, TerminateOptions, TerminationReceipt } from "@codex/exec-backend";
import type {
  ExecCommandRequest,
  OutputPosition,
  ProcessOutcome,
  ToolCallOutcome,
  WriteStdinRequest,
} from "@codex/executor-protocol";
import { defined } from "@codex/values";
import type { Admission } from "../admission/admission.js";
import { ToolError, toErrorOutcome } from "../errors.js";
import type { ExecutorTelemetry } from "../executor-telemetry.js";
import type { Ledger } from "../idempotency/ledger.js";
import type { Ids } from "../ids.js";
import { DETACHED_RETENTION_MS, ECHO_MS, type ExecutorLimits, PRUNE_GRACE_MS, SHUTDOWN_GRACE_MS } from "../limits.js";
import type { KeptOutput } from "../output/kept-output.js";
import type { LiveReceiver } from "../output/live-output.js";
import { Screens } from "../screen/screens.js";
import { applyBounds, type Bounds } from "./bounds.js";
import { createEmptyResult, createLostResult, type ResultContext, waitForResult } from "./call-result.js";
import type { CallScope } from "./call-scope.js";
import { WRITTEN, waitForWindow } from "./collect.js";
import { sendInput } from "./input.js";
import type { Session } from "./session.js";
import type { AnswerMessage } from "./session-questions.js";
import { afterAnswers } from "./session-questions.js";
import { SessionStarter, type SessionStarterOptions, UnknownStart } from "./session-starter.js";
import { SessionTable } from "./session-table.js";

export interface UnifiedExecOptions {
  /** Not owned: its `close` ends processes that sessions left behind. */
  backend: ExecBackend;
  admission: Admission;
  /** The executor's own environment, which an `envPolicy` filters. */
  env: Readonly<Record<string, string | undefined>>;
  clock: Clock;
  ids: Ids;
  limits: ExecutorLimits;
  telemetry: Pick<ExecutorTelemetry, "log" | "refused" | "pruned">;
  events: SessionEvents;
  /** Runs calls with an idempotency key once. */
  ledger: Ledger;
  /** The instances of all orchestrators of this executor; each adds itself, and removes itself when closed. */
  all: Set<UnifiedExec>;
}

/** Notifications to the orchestrator. */
interface SessionEvents {
  /** Whether it requested live output. */
  isLive(): boolean;
  receiver: LiveReceiver;
  sendExit(processId: number, outcome: ProcessOutcome): void;
  sendQuestion: SessionStarterOptions["sendQuestion"];
  sendReport: SessionStarterOptions["sendReport"];
}

/** How a session ended that was closed with its connection. */
export interface EndedSession {
  session: Session;
  /** Undefined when its host could not be reached. */
  receipt: TerminationReceipt | undefined;
}

/** Commands and their sessions, for one orchestrator. Owns the processes it starts until `close`. */
export class UnifiedExec {
  readonly #options: UnifiedExecOptions;
  /** Screens of the sessions that have a terminal. */
  readonly screens: Screens;
  readonly #table: SessionTable;
  readonly #resultContext: ResultContext;
  /** Sessions by id whose output may have to be sent again. */
  readonly #kept = new Map<number, Session>();
  /** Starts and terminations in progress. */
  readonly #pending = new Set<Promise<unknown>>();
  readonly #starter: SessionStarter;
  #closing = false;
  /** Whether only detached sessions go on. */
  orchestratorIsGone = false;
  /** Whether there were detached sessions when its orchestrator went; once none is left, `left` resolves. */
  hasDetached = false;
  readonly left: Promise<void>;
  #isFinished = false;
  #onLeft: () => void = () => {};
  #stopRetention: () => void = () => {};
  #refusesStarts = false;
  #wasUsed = false;

  constructor(options: UnifiedExecOptions) {
    const { clock, ids, limits, events } = options;
    this.#options = options;
    this.#table = new SessionTable(limits, ids, ({ id, client }) => {
      for (const one of new Set([undefined, client])) options.ledger.endScope(scopeOf(writesTo(id), one));
    });
    this.left = new Promise((resolve) => {
      this.#onLeft = resolve;
    });
    this.screens = new Screens(limits.screens);
    this.#resultContext = { clock, ids, limits, isLive: () => events.isLive() };
    const { receiver, sendQuestion, sendReport } = events;
    this.#starter = new SessionStarter({ ...options, receiver, sendQuestion, sendReport });
    options.all.add(this);
  }

  /** The instances of all orchestrators, this one first. */
  get all(): UnifiedExec[] {
    return [this, ...[...this.#options.all].filter((other) => other !== this)];
  }

  get table(): SessionTable {
    return this.#table;
  }

  get clock(): Clock {
    return this.#options.clock;
  }

  /** Whether a program runs or is being started, or a process has the output of one open. */
  get isBusy(): boolean {
    return this.#pending.size > 0 || this.#table.list().some(({ state }) => !state.closed);
  }

  /** Whether a program was ever started here: it may have left background processes, on purpose. */
  get wasUsed(): boolean {
    return this.#wasUsed;
  }

  /** Milliseconds. */
  now(): number {
    return this.#options.clock.now();
  }

  /** Window and budget of a request, within the bounds of this executor. */
  bound(request: { yieldTimeMs: number; maxOutputTokens: number }): Bounds {
    return applyBounds(request, this.#options.limits);
  }

  /** Runs a command and waits for its first window. @throws ToolError */
  async execCommand(request: ExecCommandRequest, call: CallScope): Promise<ToolCallOutcome> {
    // Before the key is used: the same call may be repeated once it was approved.
    const refusal = await this.#options.admission.getRefusal(request);
    if (refusal !== undefined) throw this.#refuse(refusal, call.requestId);
    const execGate = await this.#options.admission.limitGate(request);
    const limited = { ...request, ...defined({ execGate }) };
    return this.#once("exec_command", request.idempotencyKey, call, () => this.#exec(limited, call));
  }

  /** Acts on a session and waits for a window. Calls on one session run one at a time, except `concurrent` ones. @throws ToolError */
  async writeStdin(request: WriteStdinRequest, call: CallScope): Promise<ToolCallOutcome> {
    if (request.detach === true) this.#table.require(request.processId, call.client).isDetached = true;
    const scope = writesTo(request.processId);
    const write = () =>
      request.concurrent === true ? this.#writeConcurrently(request, call) : this.#write(request, call);
    return this.#once(scope, request.writeId, call, write);
  }

  /** Ends a session with its group, without waiting for calls in progress on it. @throws ToolError */
  async kill(id: number, client?: string): Promise<{ session: Session; receipt: TerminationReceipt }> {
    const session = this.#table.require(id, client);
    return this.#use(session, async () => ({ session, receipt: await this.#terminate(session, { by: "terminate" }) }));
  }

  /** Continues live output over another channel, after what was received. `received`: offsets by session id. */
  resume(received: ReadonlyMap<number, number>): void {
    const sessions = new Set([...this.#table.listAll(), ...this.#kept.values()]);
    for (const session of sessions) session.live.rewind(received.get(session.id));
  }

  /** Sends the open questions again. */
  repeatQuestions(): void {
    for (const { questions, reports } of this.#table.listAll()) {
      questions.repeat();
      reports?.repeat();
    }
  }

  /** Without such an open question nothing happens. */
  answerQuestion(answer: AnswerMessage): void {
    const asking = this.#table.listAll().find(({ questions }) => questions.isAsked(answer));
    if (asking === undefined) return;
    const settle = () => asking.questions.answer(answer);
    if (answer.decision !== "end") return settle();
    const what = answer.type === "host_answer" ? "a host that it wanted to reach" : "one of its programs";
    asking.noteEnding(`it was ended when ${what} was asked about`);
    // With an answer it would go on meanwhile. If its host cannot be reached, it is lost.
    this.#terminate(asking, { by: "terminate" })
      .catch(() => {})
      .finally(settle);
  }

  acknowledge(received: readonly OutputPosition[]): void {
    for (const { processId, offset } of received) {
      (this.#table.peek(processId) ?? this.#kept.get(processId))?.live.acknowledge(offset);
    }
  }

  /** Ends every session, and waits for those being started. Resolves with how the running ones ended. Idempotent. */
  async close(note = SHUTTING_DOWN, graceMs = SHUTDOWN_GRACE_MS): Promise<EndedSession[]> {
    const ended = await this.endSessions(note, graceMs);
    this.#finish();
    return ended;
  }

  /**
   * Like `close`, except for detached sessions, which go on; other orchestrators can still use them until some time after the last has
   * ended. Never rejects.
   */
  async leave(note = SHUTTING_DOWN): Promise<EndedSession[]> {
    this.orchestratorIsGone = true;
    const detached = this.#table.listAll().filter(({ isDetached }) => isDetached);
    this.hasDetached = detached.length > 0;
    const ended = await this.endSessions(note, SHUTDOWN_GRACE_MS, (session) => !detached.includes(session));
    if (this.hasDetached) void this.#outlive(detached);
    else this.#finish();
    return ended;
  }

  /** Detached sessions of all orchestrators have one limit: those that have ended longest ago make room. @throws ToolError */
  #makeRoomForDetached(): void {
    const most = this.#options.limits.sessions;
    const all = [...this.#options.all];
    const detached = all.flatMap(({ table }) => table.listAll().filter(({ isDetached }) => isDetached));
    if (detached.filter(({ process }) => process.outcome.kind === "running").length >= most) {
      throw new ToolError(`${most} detached sessions run, which is the limit; the command was not run`);
    }
    const ended = all.filter(
      (one) => one.orchestratorIsGone && one.table.listAll().every(({ process }) => process.outcome.kind !== "running"),
    );
    for (const one of ended.slice(0, Math.max(0, detached.length - most))) one.#finish();
  }

  async #outlive(detached: readonly Session[]): Promise<void> {
    await Promise.all(detached.map(({ process }) => process.exited));
    if (!this.#isFinished) this.#stopRetention = this.#options.clock.after(DETACHED_RETENTION_MS, () => this.#finish());
  }

  #finish(): void {
    if (this.#isFinished) return;
    this.#isFinished = true;
    this.#stopRetention();
    for (const session of this.#table.listAll()) session.dispose();
    this.#options.all.delete(this);
    this.#onLeft();
  }

  /** From now on no session is started. */
  refuseStarts(): void {
    this.#refusesStarts = true;
  }

  /** Like `close`, but calls can still return how sessions ended, and their last output. Nothing more is started. */
  async endSessions(
    note = SHUTTING_DOWN,
    graceMs = SHUTDOWN_GRACE_MS,
    isWanted: (session: Session) => boolean = () => true,
  ): Promise<EndedSession[]> {
    this.#closing = true;
    void this.#track(this.#starter.close());
    const ended = new Map<Session, EndedSession>();
    const end = () =>
      this.#table
        .listAll()
        .filter(isWanted)
        .map(async (session) => {
          session.noteEnding(note);
          const wasRunning = session.process.outcome.kind === "running";
          if (wasRunning) ended.set(session, { session, receipt: undefined });
          const receipt = await this.#terminate(session, { by: "shutdown", graceMs });
          if (wasRunning) ended.set(session, { session, receipt });
        });
    await Promise.allSettled([...end(), ...this.#pending]);
    await Promise.allSettled(end());
    return [...ended.values()];
  }

  #refuse(refusal: string, requestId: string): ToolError {
    const { refused, log } = this.#options.telemetry;
    refused.value += 1;
    log.info?.("command refused", { requestId });
    return new ToolError(refusal);
  }

  /** With a key, a repeat gets the first result, also when that was an error. */
  #once(name: string, key: string | undefined, call: CallScope, run: () => Promise<ToolCallOutcome>) {
    if (key === undefined) return run();
    return this.#options.ledger.run({ scope: scopeOf(name, call.client), key }, call, async () => {
      try {
        return await run();
      } catch (error) {
        if (error instanceof ToolError) return toErrorOutcome(error);
        throw error;
      }
    });
  }

  async #exec(request: ExecCommandRequest, call: CallScope): Promise<ToolCallOutcome> {
    const requestedAt = this.now();
    const session = await this.#track(this.#start(request, call)).catch((error: unknown) => {
      if (error instanceof UnknownStart) return error;
      throw error;
    });
    if (session instanceof UnknownStart) return createLostResult(session.message, requestedAt, this.#resultContext);
    const { requestId, signal } = call;
    const { startedAt } = session.process;
    return this.#use(session, async () => {
      const endTurn = await session.turns.take();
      try {
        const until = getUntil(request, 0);
        const poll = { requestId, signals: [signal], startedAt, bounds: this.bound(request), ...until };
        const from = session.cursor;
        const answer = await waitForResult(session, poll, this.#resultContext);
        call.keep?.(this.#keep(session, requestId, from));
        if (!session.outcomeReported) this.#announceExit(session, call.answered);
        return answer;
      } finally {
        session.establish();
        endTurn?.();
      }
    });
  }

  async #write(request: WriteStdinRequest, call: CallScope): Promise<ToolCallOutcome> {
    const { clock, limits } = this.#options;
    const startedAt = clock.now();
    const session = this.#table.require(request.processId, call.client);
    return this.#use(session, async () => {
      const endTurn = await session.turns.take(call.signal);
      if (endTurn === undefined) {
        const notices = ["the call was cancelled before its turn; nothing was written"];
        return createEmptyResult(session, { startedAt, notices, waitEnded: "cancelled" }, this.#resultContext);
      }
      try {
        const acts = request.input !== "" || request.closeStdin === true || request.signal !== undefined;
        const from = acts ? session.process.log.end : session.seenEnd;
        const until = getUntil(request, from);
        const input = await sendInput(session, request, limits.waitingInputBytes);
        const { requestId } = call;
        const signals = request.until === "written" ? [abortWhen(input.settled), call.signal] : [call.signal];
        const poll = { requestId, signals, startedAt, bounds: this.bound(request), input, ...until };
        const covered = session.cursor;
        const answer = await waitForResult(session, poll, this.#resultContext);
        call.keep?.(this.#keep(session, requestId, covered));
        return answer;
      } finally {
        endTurn();
      }
    });
  }

  /** Neither waits for calls in progress on the session nor returns output. Started synchronously, to keep the order. */
  async #writeConcurrently(request: WriteStdinRequest, call: CallScope): Promise<ToolCallOutcome> {
    const { clock, limits } = this.#options;
    const startedAt = clock.now();
    const session = this.#table.require(request.processId, call.client);
    return this.#use(session, async () => {
      const { sentPieces } = session.live;
      const input = await sendInput(session, request, limits.waitingInputBytes);
      // A terminal usually takes input at once: then there is nothing to wait for.
      const isTaken = !session.state.closed && (await settlesThisTurn(input.settled));
      const waitEnded = isTaken
        ? "written"
        : await waitForWindow(session, clock, {
            ms: this.bound(request).windowMs,
            signals: [abortWhen(input.settled), call.signal, ...input.failures],
            outputFrom: undefined,
            untilPrompt: false,
          });
      // A user waits for the echo of a key, not for this response.
      if (session.stdio.kind === "pty") await session.live.waitForNext(clock, ECHO_MS, sentPieces);
      return createEmptyResult(session, { startedAt, notices: input.getNotices(), waitEnded }, this.#resultContext);
    });
  }

  /** The output covered by the result just created, from an offset on. */
  #keep(session: Session, requestId: string, from: number): KeptOutput {
    const to = session.cursor;
    const stopRetaining = session.retain();
    this.#kept.set(session.id, session);
    return {
      bytes: session.bytesInMemory,
      replay: () => session.live.replay(requestId, to),
      undo: () => {
        if (session.takeBackResult({ from, to })) this.#table.unreport(session);
      },
      release: () => {
        stopRetaining();
        if (!session.isRetained && this.#kept.get(session.id) === session) this.#kept.delete(session.id);
      },
    };
  }

  async #start(request: ExecCommandRequest, call: CallScope): Promise<Session> {
    if (this.#closing || this.#refusesStarts)
      throw new ToolError("the executor is shutting down; the command was not run");
    const { limits, telemetry } = this.#options;
    if (request.detached === true) this.#makeRoomForDetached();
    const { id, pruned } = this.#table.reserve(call.client);
    this.#wasUsed = true;
    try {
      if (pruned !== undefined) {
        pruned.noteEnding(`the session was ended to make room for another: at most ${limits.sessions} are kept`);
        telemetry.pruned.value += 1;
        telemetry.log.warn?.("session ended to make room", { sessionId: pruned.id });
        await this.#terminate(pruned, { by: "prune", graceMs: PRUNE_GRACE_MS });
      }
      const session = await this.#starter.start(id, request, call);
      this.#table.add(session);
      session.isDetached = request.detached === true;
      session.watch(() => this.#settle(session));
      if (request.timeoutMs !== undefined) this.#limitTime(session, request.timeoutMs);
      return session;
    } catch (error) {
      this.#table.release(id);
      throw error;
    }
  }

  #limitTime(session: Session, timeoutMs: number): void {
    const cancel = afterAnswers(session.questions, this.#options.clock, timeoutMs, () => {
      if (session.process.outcome.kind !== "running") return;
      const note = `the time limit of ${timeoutMs} ms was reached, and the session was ended`;
      session.noteEnding(note, { timedOut: true });
      // If the host cannot be reached, the outcome of the process is `lost`.
      this.#terminate(session, { by: "timeout" }).catch(() => {});
    });
    session.watch(cancel);
  }

  async #terminate(session: Session, options: TerminateOptions): Promise<TerminationReceipt> {
    return this.#track(session.process.terminate(options));
  }

  #announceExit(session: Session, answered: Promise<void>): void {
    void Promise.all([session.process.exited, answered]).then(([outcome]) => {
      this.#options.events.sendExit(session.id, outcome);
    });
  }

  async #use<T>(session: Session, run: () => Promise<T>): Promise<T> {
    const endUse = session.use();
    try {
      return await run();
    } finally {
      endUse();
      this.#table.touch(session);
      this.#settle(session);
    }
  }

  /** Frees the place of a session whose end was reported with all of its output. */
  #settle(session: Session): void {
    const isDone = session.outcomeReported && session.state.closed && session.unread === 0;
    if (isDone && !session.isUsed) this.#table.retire(session);
  }

  async #track<T>(work: Promise<T>): Promise<T> {
    this.#pending.add(work);
    try {
      return await work;
    } finally {
      this.#pending.delete(work);
    }
  }
}

const SHUTTING_DOWN = "the executor is shutting down";

/** Name of the writes to a session, whose keys are its own. */
const writesTo = (processId: number): string => `write_stdin ${processId}`;

/** The scope of a key: each client has its own. */
const scopeOf = (name: string, client: string | undefined): string => JSON.stringify([name, client ?? null]);

/** Events other than the end of the process that end a wait; `from`: offset of new output. */
const getUntil = ({ until }: ExecCommandRequest | WriteStdinRequest, from: number) => ({
  outputFrom: until === "output" ? from : undefined,
  untilPrompt: until === "prompt",
});

/** Whether it settles within this turn of the event loop. */
const settlesThisTurn = (settling: Promise<void>): Promise<boolean> =>
  Promise.race([settling.then(() => true), nextTurn(false)]);

/** Aborts when the input of a call has settled. */
function abortWhen(settling: Promise<void>): AbortSignal {
  const settled = new AbortController();
  void settling.then(() => settled.abort(WRITTEN));
  return settled.signal;
}
