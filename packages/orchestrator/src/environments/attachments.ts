import type { Channel } from "@codex/channel";
import { type Clock, waitAtMost, waitUnlessAborted } from "@codex/clock";
import { ExecutorConnection, ProblemLog, type SessionOwner } from "@codex/executor-client";
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
}

/** Attaches executors and detaches them, and reports what happens to their connections. */
export class Attachments {
  readonly #context: Context;
  readonly #attaching = new Map<string, Promise<unknown>>();

  constructor(context: Context) {
    this.#context = context;
  }

  async attach(options: AttachOptions): Promise<AttachedExecutor> {
    const refusal = this.refusal(options.name) ?? this.#limitRefusal(options.name);
    if (refusal !== undefined) {
      if (options.channel !== undefined) closeLater(options.channel);
      throw refusal;
    }
    const { signal: given } = options;
    const { catalog, closing } = this.#context;
    const signal = given === undefined ? closing : AbortSignal.any([given, closing]);
    const release = catalog.reserve(options.name, options.toolsFor);
    const attached = this.#connected(options, signal)
      .then((channel) => this.#open(options, channel, signal))
      .catch((error: unknown) => {
        throw signal.aborted ? this.#givenUp(options.name) : error;
      });
    this.#attaching.set(options.name, attached);
    try {
      return describeExecutor(await attached);
    } finally {
      this.#attaching.delete(options.name);
      release();
    }
  }

  /** @throws the first failure, once all have settled */
  async attachAll(executors: readonly AttachOptions[]): Promise<void> {
    const attached = await Promise.allSettled(executors.map((options) => this.attach(options)));
    const failure = attached.find((one) => one.status === "rejected");
    if (failure !== undefined) throw failure.reason;
  }

  async detach(name: string): Promise<boolean> {
    const { catalog, environments } = this.#context;
    const executor = catalog.get(name);
    const wasAdded = environments.delete(name);
    if (executor === undefined && !wasAdded) return false;
    catalog.delete(name);
    await executor?.close();
    return true;
  }

  /** Detaches all executors, and waits for those being attached; `closing` has aborted. */
  async close(): Promise<void> {
    const attaching = Promise.allSettled(this.#attaching.values());
    await Promise.all(this.#context.catalog.all.map((executor) => this.detach(executor.name)));
    await attaching;
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
    const { catalog, sessions, clock, newId, jitter, closing } = this.#context;
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
        clock,
        limits,
        timings,
        problems,
        idPrefix: newId(),
        owner,
        signal,
        reconnect: connect === undefined ? undefined : { connect, random: jitter },
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
    catalog.set(executor);
    sessions.restore(owner);
    void executor.ended.then((reason) => {
      sessions.lose(executor.owner, reason);
      problems.guard("onOffline", () => onOffline?.(name, reason, false));
    });
    if (!closing.aborted) return executor;
    await this.detach(name);
    throw closedError();
  }

  /** Reports the end of a session. One that is unknown here has no id for the model. */
  #endSession(from: Pick<ExecutorConnection, "owner" | "problems">, processId: number, outcome: ProcessOutcome): void {
    const { sessions, events } = this.#context;
    const session = sessions.find(from.owner, processId);
    // After a resume, an executor repeats events that may not have been received.
    if (session === undefined || session.isExitReported) return;
    session.isExitReported = true;
    session.state = { kind: "ended", outcome };
    const exited = { executor: from.owner.name, sessionId: session.id, outcome };
    from.problems.guard("onSessionExited", () => events.onSessionExited?.(exited));
  }
}
