import type { Channel } from "@codex/channel";
import { type Clock, waitAtMost, waitUnlessAborted } from "@codex/clock";
import {
  type AnswerHost,
  type AnswerProgram,
  ExecutorConnection,
  type HostReport,
  ProblemLog,
  type SessionOwner,
} from "@codex/executor-client";
import type { ProcessOutcome } from "@codex/executor-protocol";
import type { Catalog } from "../catalog/catalog.js";
import type { Config } from "../config.js";
import { asOrchestratorErrors, closedError, connectFailure, OrchestratorError } from "../errors.js";
import {
  type AttachedExecutor,
  type AttachOptions,
  closeLater,
  describeExecutor,
} from "../executors/attached-executor.js";
import type { ExecutorEvents } from "../executors/executor-events.js";
import type { SessionTable } from "../executors/sessions.js";
import type { EnvironmentTable } from "./environment-table.js";

/** Dependencies of attaching; `closing` aborts when the orchestrator is closed. */
interface Context {
  events: ExecutorEvents;
  config: Config;
  clock: Clock;
  newId: () => string;
  /** A number in [0, 1). */
  jitter: () => number;
  catalog: Catalog;
  sessions: SessionTable;
  environments: EnvironmentTable;
  closing: AbortSignal;
  answerProgram: AnswerProgram;
  answerHost: AnswerHost;
  noteHosts: (report: HostReport) => void;
  /** The command with these questions has ended. */
  forgetQuestions: (key: string) => void;
}

/** An attempt to attach: it has an effect only while it is the current one of its name. */
interface Attempt {
  /** Aborted when its name is detached. */
  abort: AbortController;
  /** Never rejects. */
  settled: Promise<unknown>;
}

/** Attaches executors and detaches them, and reports what happens to their connections. */
export class Attachments {
  readonly #context: Context;
  readonly #attaching = new Map<string, Attempt>();

  constructor(context: Context) {
    this.#context = context;
  }

  async attach(options: AttachOptions): Promise<AttachedExecutor> {
    const { name, signal: given } = options;
    const refusal = given?.aborted ? this.#givenUp(name) : (this.refusal(name) ?? this.#limitRefusal(name));
    if (refusal !== undefined) {
      if (options.channel !== undefined) closeLater(options.channel);
      throw refusal;
    }
    const { catalog, closing } = this.#context;
    const abort = new AbortController();
    const signal = AbortSignal.any([abort.signal, closing, ...(given === undefined ? [] : [given])]);
    const release = catalog.reserve(name, options.toolsFor);
    const attached = this.#connected(options, signal)
      .then((channel) => this.#open(options, channel, signal))
      .catch((error: unknown) => {
        throw signal.aborted ? this.#givenUp(name) : error;
      });
    const attempt: Attempt = { abort, settled: attached.catch(() => {}) };
    this.#attaching.set(name, attempt);
    try {
      return describeExecutor(await attached);
    } finally {
      if (this.#attaching.get(name) === attempt) {
        this.#attaching.delete(name);
        release();
      }
    }
  }

  /** @throws the first failure, once all have settled */
  async attachAll(executors: readonly AttachOptions[]): Promise<void> {
    const attached = await Promise.allSettled(executors.map((options) => this.attach(options)));
    const failure = attached.find((one) => one.status === "rejected");
    if (failure !== undefined) throw failure.reason;
  }

  /** Also ends an attempt to attach under this name. */
  async detach(name: string): Promise<boolean> {
    const { catalog, environments } = this.#context;
    const executor = catalog.get(name);
    const attempt = this.#attaching.get(name);
    const wasAdded = environments.delete(name);
    if (executor === undefined && attempt === undefined && !wasAdded) return false;
    this.#attaching.delete(name);
    catalog.delete(name);
    attempt?.abort.abort();
    await Promise.all([executor?.close(), attempt?.settled]);
    return true;
  }

  /** Detaches all executors, and ends all attempts; `closing` has aborted. */
  async close(): Promise<void> {
    const names = new Set([...this.#context.catalog.all.map(({ name }) => name), ...this.#attaching.keys()]);
    await Promise.all([...names].map((name) => this.detach(name)));
  }

  /** Why no executor or environment can be added under this name now. */
  refusal(name: string): OrchestratorError | undefined {
    const { catalog, closing } = this.#context;
    if (closing.aborted) return closedError();
    if (!/^[A-Za-z0-9_.-]{1,64}$/.test(name)) {
      const expected = "1 to 64 letters, digits and _ . -";
      return new OrchestratorError("bad_option", `executor name ${JSON.stringify(name)}; expected ${expected}`);
    }
    const known = catalog.get(name);
    if (this.#attaching.has(name) || (known !== undefined && known.offlineReason === undefined)) {
      return new OrchestratorError("name_taken", `an executor named \`${name}\` is attached`);
    }
    return undefined;
  }

  /** Why one more executor cannot be attached; an offline executor also counts. */
  #limitRefusal(name: string): OrchestratorError | undefined {
    const { catalog, config } = this.#context;
    const { executors } = config.limits;
    const count = catalog.all.length + this.#attaching.size;
    if (count < executors || catalog.get(name) !== undefined) return undefined;
    return new OrchestratorError(
      "too_many_executors",
      `${count} executors are attached (limit ${executors} executors)`,
    );
  }

  /** Waits for the channel; one that opens too late is closed. */
  async #connected({ name, channel: given, reconnect }: AttachOptions, signal: AbortSignal): Promise<Channel> {
    const { clock, config } = this.#context;
    const { connectMs } = config.timings;
    const attempt = new AbortController();
    const channel = given ?? reconnect?.(AbortSignal.any([attempt.signal, signal]));
    if (channel === undefined) {
      throw new OrchestratorError("bad_option", `executor \`${name}\` has neither \`channel\` nor \`reconnect\``);
    }
    const inTime = waitAtMost(clock, connectMs, Promise.resolve(channel));
    const connected = await waitUnlessAborted(signal, inTime).catch((cause: unknown) => connectFailure(name, cause));
    if (connected !== undefined && !(connected instanceof OrchestratorError) && !signal.aborted) return connected;
    closeLater(channel);
    attempt.abort();
    throw (
      connected ??
      new OrchestratorError("connect_timeout", `executor \`${name}\`: no connection within ${connectMs} ms`)
    );
  }

  #givenUp(name: string): OrchestratorError {
    if (this.#context.closing.aborted) return closedError();
    return new OrchestratorError("closed", `attaching executor \`${name}\` was cancelled`);
  }

  async #open(options: AttachOptions, channel: Channel, signal: AbortSignal): Promise<ExecutorConnection> {
    const { name, initialize = {} } = options;
    const { catalog, sessions, clock, newId, jitter } = this.#context;
    const { limits, timings } = this.#context.config;
    const { onProblem, onToolsChanged, onOffline, onOnline } = this.#context.events;
    const resumed = initialize !== false && initialize.resumeSessionId !== undefined;
    const owner: SessionOwner = (resumed ? catalog.get(name)?.owner : undefined) ?? { name };
    const problems = new ProblemLog(name, limits, onProblem);
    const { reconnect: connect } = options;
    const executor = await asOrchestratorErrors(
      ExecutorConnection.open({
        name,
        channel,
        initialize,
        shutdownOnClose: options.shutdownOnClose ?? true,
        resourceLimits: options.resourceLimits ?? {},
        clock,
        limits,
        timings,
        problems,
        idPrefix: newId(),
        owner,
        signal,
        reconnect: connect === undefined ? undefined : { connect, random: jitter },
        answerProgram: this.#context.answerProgram,
        answerHost: this.#context.answerHost,
        onHostReport: this.#context.noteHosts,
        onToolsChanged: () => problems.guard("onToolsChanged", () => onToolsChanged?.(name)),
        onSessionExited: (owner, processId, outcome) => this.#endSession({ owner, problems }, processId, outcome),
        onInterrupted: (reason) => problems.guard("onOffline", () => onOffline?.(name, reason, true)),
        onRestored: (lost) => {
          if (lost !== undefined) sessions.lose(lost.owner, lost.reason);
          const back =
            lost === undefined ? { resumed: true as const } : { resumed: false as const, reason: lost.reason };
          problems.guard("onOnline", () => onOnline?.(name, back));
        },
      }),
    );
    if (signal.aborted) {
      await executor.close();
      throw this.#givenUp(name);
    }
    catalog.set(executor, options.getState);
    sessions.restore(owner);
    void executor.ended.then((reason) => {
      sessions.lose(executor.owner, reason);
      problems.guard("onOffline", () => onOffline?.(name, reason, false));
    });
    return executor;
  }

  /** Reports the end of a session. One that is unknown here has no id for the model. */
  #endSession(from: Pick<ExecutorConnection, "owner" | "problems">, processId: number, outcome: ProcessOutcome): void {
    const { sessions, events } = this.#context;
    const session = sessions.find(from.owner, processId);
    // After a resume, an executor repeats events that may not have been received.
    if (session === undefined || session.isExitReported) return;
    session.isExitReported = true;
    session.state = { kind: "ended", outcome };
    if (session.questionKey !== undefined) this.#context.forgetQuestions(session.questionKey);
    const exited = { executor: from.owner.name, sessionId: session.id, outcome };
    from.problems.guard("onSessionExited", () => events.onSessionExited?.(exited));
  }
}
