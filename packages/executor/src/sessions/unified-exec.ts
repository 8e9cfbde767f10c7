import {
  createEnvironment,
  type ExecBackend,
  type ProcessSpec,
  type ProcessStdio,
  StartError,
  type TerminateOptions,
  type TerminationReceipt,
  UnknownStartError,
} from "@codex/exec-backend";
import type {
  ExecCommandRequest,
  OutputPosition,
  ProcessOutcome,
  Sandbox,
  ToolCallOutcome,
  WriteStdinRequest,
} from "@codex/executor-protocol";
import type { TraceContext } from "@codex/telemetry";
import { messageOf } from "@codex/telemetry";
import type { Admission } from "../admission.js";
import type { Clock } from "../clock.js";
import { ToolError, toErrorOutcome } from "../errors.js";
import type { ExecutorTelemetry } from "../executor-telemetry.js";
import type { Ids } from "../ids.js";
import type { Ledger } from "../ledger.js";
import { type ExecutorLimits, PRUNE_GRACE_MS, SHUTDOWN_GRACE_MS } from "../limits.js";
import { Screens } from "../screen/screens.js";
import { type AnswerContext, answerLost, answerNothing, answerPoll } from "./answer.js";
import { applyBounds, type Bounds } from "./bounds.js";
import { WRITTEN } from "./collect.js";
import { sendInput } from "./input.js";
import type { LiveReceiver } from "./live-output.js";
import { getRetention } from "./retention.js";
import { Session } from "./session.js";
import { SessionTable } from "./session-table.js";
import { ShellStartups } from "./shell-startup.js";

export interface UnifiedExecOptions {
  /** Not owned: what sessions left behind outside of their lives is ended by its `close`. */
  backend: ExecBackend;
  admission: Admission;
  /** The executor's own environment, of which an `envPolicy` makes a base. */
  env: Readonly<Record<string, string | undefined>>;
  clock: Clock;
  ids: Ids;
  limits: ExecutorLimits;
  telemetry: Pick<ExecutorTelemetry, "log" | "refused" | "pruned">;
  events: SessionEvents;
  /** Calls with a key are made once. */
  ledger: Ledger;
  /** Those of every orchestrator of this executor; this one adds itself until it is closed. */
  all: Set<UnifiedExec>;
}

/** What an orchestrator may be told without asking. */
export interface SessionEvents {
  /** Whether it asked for live output. */
  isLive(): boolean;
  receiver: LiveReceiver;
  sendExit(processId: number, outcome: ProcessOutcome): void;
}

/** The call on whose behalf something is done. */
export interface CallScope {
  requestId: string;
  /** Ends the wait of the call; what it started lives on. */
  signal: AbortSignal;
  /** Resolves once the answer is on its way. */
  answered: Promise<void>;
  /** What the call is part of. */
  trace?: TraceContext | undefined;
  /** Takes what belongs to the answer, which may have to be given again; undefined where nobody could ask for it. */
  keep?: ((kept: KeptOutput) => void) | undefined;
}

/** The output that an answer tells of. */
export interface KeptOutput {
  /** Bytes in memory. */
  readonly bytes: number;
  /** Sends the live output of the call once more, as far as it was not received. Never rejects. */
  replay(): Promise<void>;
  /** The answer will never be received: the next one covers what it did. */
  undo(): void;
  /** The answer was received. */
  release(): void;
}

/** How a session was ended that nobody came back for. */
export interface EndedSession {
  session: Session;
  /** Undefined when its host could not be asked. */
  receipt: TerminationReceipt | undefined;
}

/** Commands and their sessions, for one orchestrator. Owns the processes it starts until `close`. */
export class UnifiedExec {
  readonly #options: UnifiedExecOptions;
  /** Of the sessions that have a terminal. */
  readonly screens: Screens;
  readonly #table: SessionTable;
  readonly #answers: AnswerContext;
  /** Those whose output an answer may have to be given again with, by id. */
  readonly #kept = new Map<number, Session>();
  /** Starts and terminations under way. */
  readonly #pending = new Set<Promise<unknown>>();
  readonly #shellStartups: ShellStartups;
  #closing = false;
  #wasUsed = false;

  constructor(options: UnifiedExecOptions) {
    const { clock, ids, limits, events } = options;
    this.#options = options;
    this.#table = new SessionTable(limits, ids);
    this.screens = new Screens(limits.screens);
    this.#answers = { clock, ids, limits, isLive: () => events.isLive() };
    this.#shellStartups = new ShellStartups(options.backend, options.env);
    options.all.add(this);
  }

  /** Those of every orchestrator, this one first. */
  get all(): UnifiedExec[] {
    return [this, ...[...this.#options.all].filter((other) => other !== this)];
  }

  get table(): SessionTable {
    return this.#table;
  }

  get clock(): Clock {
    return this.#options.clock;
  }

  /** Whether a program runs or is being started, or something holds the output of one. */
  get isBusy(): boolean {
    return this.#pending.size > 0 || this.#table.list().some(({ state }) => !state.closed);
  }

  /** Whether a program was ever started here: it may have left something behind, on purpose. */
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
    // Before the key counts: the same call may come again once it was approved.
    const refusal = await this.#options.admission.getRefusal(request);
    if (refusal !== undefined) throw this.#refuse(refusal, call.requestId);
    return this.#once("exec_command", request.idempotencyKey, call, (scope) => this.#exec(request, scope));
  }

  /** Acts on a session and waits for a window. Calls on one session take turns. @throws ToolError */
  async writeStdin(request: WriteStdinRequest, call: CallScope): Promise<ToolCallOutcome> {
    const scope = `write_stdin ${request.processId}`;
    return this.#once(scope, request.writeId, call, (scope) => this.#write(request, scope));
  }

  /** Ends a session with its group, past calls that wait for it. @throws ToolError */
  async kill(id: number): Promise<{ session: Session; receipt: TerminationReceipt }> {
    const session = this.#table.contact(id);
    return this.#use(session, async () => ({ session, receipt: await this.#terminate(session, { by: "terminate" }) }));
  }

  /** Another channel has taken the place of the one before: live output goes on behind what was received. */
  resume(received: ReadonlyMap<number, number>): void {
    const sessions = new Set([...this.#table.listAll(), ...this.#kept.values()]);
    for (const session of sessions) session.live.rewind(received.get(session.id));
  }

  acknowledge(received: readonly OutputPosition[]): void {
    for (const { processId, offset } of received) {
      (this.#table.peek(processId) ?? this.#kept.get(processId))?.live.acknowledge(offset);
    }
  }

  /** Ends every session, and waits for what is being started. Tells how those ended that were running. Idempotent. */
  async close(note = "the executor is shutting down"): Promise<EndedSession[]> {
    this.#closing = true;
    void this.#track(this.#shellStartups.close());
    const ended = new Map<Session, EndedSession>();
    const end = () =>
      this.#table.listAll().map(async (session) => {
        session.endNote ??= note;
        const wasRunning = session.process.outcome.kind === "running";
        if (wasRunning) ended.set(session, { session, receipt: undefined });
        const receipt = await this.#terminate(session, { by: "shutdown", graceMs: SHUTDOWN_GRACE_MS });
        if (wasRunning) ended.set(session, { session, receipt });
      });
    await Promise.allSettled([...end(), ...this.#pending]);
    await Promise.allSettled(end());
    for (const session of this.#table.listAll()) session.dispose();
    this.#options.all.delete(this);
    return [...ended.values()];
  }

  #refuse(refusal: string, requestId: string): ToolError {
    const { refused, log } = this.#options.telemetry;
    refused.value += 1;
    log.info?.("command refused", { requestId });
    return new ToolError(refusal);
  }

  /** With a key: a repeat gets the first answer, also when that was an error. */
  #once(scope: string, key: string | undefined, call: CallScope, run: (call: CallScope) => Promise<ToolCallOutcome>) {
    if (key === undefined) return run(call);
    return this.#options.ledger.run({ scope, key }, call.signal, async (signal) => {
      try {
        return await run({ ...call, signal });
      } catch (error) {
        if (error instanceof ToolError) return toErrorOutcome(error);
        throw error;
      }
    });
  }

  async #exec(request: ExecCommandRequest, call: CallScope): Promise<ToolCallOutcome> {
    const askedAt = this.now();
    const session = await this.#track(this.#start(request, call)).catch((error: unknown) => {
      if (error instanceof LostStart) return error;
      throw error;
    });
    if (session instanceof LostStart) return answerLost(session.message, askedAt, this.#answers);
    const { requestId, signal } = call;
    const { startedAt } = session.process;
    return this.#use(session, async () => {
      const endTurn = await session.turns.take();
      try {
        const until = getUntil(request, 0);
        const poll = { requestId, signals: [signal], startedAt, bounds: this.bound(request), ...until };
        const from = session.cursor;
        const answer = await answerPoll(session, poll, this.#answers);
        call.keep?.(this.#keep(session, requestId, from));
        if (!session.outcomeTold) this.#announceExit(session, call.answered);
        return answer;
      } finally {
        session.established = true;
        endTurn?.();
      }
    });
  }

  async #write(request: WriteStdinRequest, call: CallScope): Promise<ToolCallOutcome> {
    const { clock, limits } = this.#options;
    const startedAt = clock.now();
    const session = this.#table.contact(request.processId);
    return this.#use(session, async () => {
      const endTurn = await session.turns.take(call.signal);
      if (endTurn === undefined) {
        const notice = "the call was cancelled before its turn; nothing was written";
        return answerNothing(session, startedAt, notice, this.#answers);
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
        const answer = await answerPoll(session, poll, this.#answers);
        call.keep?.(this.#keep(session, requestId, covered));
        return answer;
      } finally {
        endTurn();
      }
    });
  }

  /** What an answer told that has just been made, from an offset on. */
  #keep(session: Session, requestId: string, from: number): KeptOutput {
    const to = session.cursor;
    const stopRetaining = session.retain();
    this.#kept.set(session.id, session);
    return {
      bytes: session.bytesInMemory,
      replay: () => session.live.replay(requestId, to),
      undo: () => {
        if (session.cursor !== to) return; // a later answer was given
        session.cursor = from;
        this.#table.untell(session);
      },
      release: () => {
        stopRetaining();
        if (!session.isRetained && this.#kept.get(session.id) === session) this.#kept.delete(session.id);
      },
    };
  }

  async #start(request: ExecCommandRequest, { requestId, trace }: CallScope): Promise<Session> {
    if (this.#closing) throw new ToolError("the executor is shutting down; the command was not run");
    const { clock, events, limits, telemetry } = this.#options;
    const { id, pruned } = this.#table.reserve();
    this.#wasUsed = true;
    try {
      if (pruned !== undefined) {
        pruned.endNote ??= `the session was ended to make room for another: at most ${limits.sessions} are kept`;
        telemetry.pruned.value += 1;
        telemetry.log.warn?.("session ended to make room", { sessionId: pruned.id });
        await this.#terminate(pruned, { by: "prune", graceMs: PRUNE_GRACE_MS });
      }
      const stdio = getStdio(request);
      const retention = getRetention(limits.log, request.whenFull, events.receiver.acknowledges);
      const given = { stdio, log: retention.chosen, trace };
      const { process, startup } = await this.#spawn(request, given);
      telemetry.log.info?.("session started", { requestId, sessionId: id, pid: process.pid });
      const { command, cwd, whenFull } = request;
      const { receiver } = events;
      void process.exited.then(() => {
        const problem = process.log.spillProblem;
        if (problem !== undefined) telemetry.log.warn?.("output was not kept on disk", { sessionId: id, problem });
      });
      const session = new Session({ id, process, command, cwd, stdio, clock, receiver, retention, whenFull, startup });
      this.#table.add(session);
      session.watch(() => this.#settle(session));
      if (request.timeoutMs !== undefined) this.#limitTime(session, request.timeoutMs);
      return session;
    } catch (error) {
      this.#table.release(id);
      throw error;
    }
  }

  async #spawn(request: ExecCommandRequest, given: Pick<ProcessSpec, "stdio" | "log" | "trace">) {
    const { backend, env: own } = this.#options;
    const { command: argv, cwd } = request;
    // A remote host makes environments of its own; what is here would be the wrong one.
    const environment =
      backend.appliesEnvPolicy && request.envPolicy !== undefined
        ? { env: request.env, envPolicy: request.envPolicy }
        : { env: createEnvironment(request.envPolicy, own, request.env) };
    const held = isHeld(request) ? { sandbox: request.sandbox } : {};
    const asked: ProcessSpec = { argv, cwd, ...environment, ...held, ...given };
    const { spec, note } = await this.#shellStartups.apply(request, asked);
    try {
      return { process: await backend.start(spec), startup: note };
    } catch (error) {
      if (error instanceof UnknownStartError) throw new LostStart(error);
      const named = error instanceof StartError ? { code: error.code } : {};
      const hint = error instanceof StartError ? getStartHint(error) : "";
      throw new ToolError(`the command was not run: ${messageOf(error)}${hint}`, { cause: error, ...named });
    }
  }

  #limitTime(session: Session, timeoutMs: number): void {
    const cancel = this.#options.clock.after(timeoutMs, () => {
      if (session.process.outcome.kind !== "running") return;
      session.timedOut = true;
      session.endNote ??= `the time limit of ${timeoutMs} ms was reached, and the session was ended`;
      // A host that cannot be asked has lost the process, and its outcome tells.
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
    session.users += 1;
    try {
      return await run();
    } finally {
      session.users -= 1;
      this.#table.touch(session);
      this.#settle(session);
    }
  }

  /** Gives up the place of a session whose end was answered with all of its output. */
  #settle(session: Session): void {
    const isDone = session.outcomeTold && session.state.closed && session.unread === 0;
    if (isDone && session.users === 0) this.#table.retire(session);
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

/** Whether the command was started is not known. */
class LostStart extends Error {
  constructor(cause: unknown) {
    super(`whether it was started is not known: ${messageOf(cause)}`, { cause });
  }
}

/** What besides the end of the process ends a wait; `from` is the offset of new output. */
const getUntil = ({ until }: ExecCommandRequest | WriteStdinRequest, from: number) => ({
  outputFrom: until === "output" ? from : undefined,
  untilPrompt: until === "prompt",
});

/** Aborts when the input of a call has settled. */
function abortWhen(settling: Promise<void>): AbortSignal {
  const settled = new AbortController();
  void settling.then(() => settled.abort(WRITTEN));
  return settled.signal;
}

/** Permissions `disabled` ask for nothing that a host would have to be able to do. */
const isHeld = (request: ExecCommandRequest): request is ExecCommandRequest & { sandbox: Sandbox } =>
  request.sandbox !== undefined && request.sandbox !== null && request.sandbox.permissions.type !== "disabled";

function getStdio({ tty, size, stdin }: ExecCommandRequest): ProcessStdio {
  if (!tty) return { kind: "pipe", stdin: stdin ?? "null" };
  return size === undefined ? { kind: "pty" } : { kind: "pty", size };
}

/** What to do about a failure to start. */
const getStartHint = ({ code, message }: StartError): string =>
  message.endsWith("is a directory") ? "; name a program" : (START_HINTS[code] ?? "");

const START_HINTS: Readonly<Partial<Record<string, string>>> = {
  cwd_not_absolute: "; give an absolute path",
  cwd_not_found: "; choose a directory that exists",
  cwd_not_directory: "; choose a directory",
  program_not_found: "; check its name, or install it",
  not_executable: "; make it executable, or run it with its interpreter",
};
