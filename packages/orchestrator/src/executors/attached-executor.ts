import type { Channel } from "@codex/channel";
import type { Connector, ExecutorConnection, InitializeOptions, ProtocolProblem } from "@codex/executor-client";
import type { HostInfo, ResourceLimits } from "@codex/executor-protocol";
import { asOrchestratorErrors } from "../errors.js";

/** An executor to attach. Either `channel` or `reconnect` has to be given. */
export interface AttachOptions {
  /**
   * Environment name that models use for this executor: 1 to 64 letters, digits and `_.-`. Attaching under the name of
   * an executor that is offline replaces it.
   */
  name: string;
  /** Owned by the orchestrator: closed when attaching fails, by `detach` and by `close`. Default: opened by `reconnect`. */
  channel?: Channel | Promise<Channel>;
  /**
   * Opens another channel when the current one is lost. Called again, with exponential backoff and full jitter, for as
   * long as the executor retains the sessions. Output continues without loss or repetition; calls wait in the meantime.
   */
  reconnect?: Connector;
  /**
   * Adds the tools of this executor to the named environment, instead of being an environment of its own: calls do not name it, and
   * options and decisions for the environment apply to it. Selected with the environment; always, if no environment has this name.
   */
  toolsFor?: string;
  /**
   * State of the connection to its host, for an executor that reaches that over a connection of its own. While it is not `ready`, sessions
   * are reported as lost.
   */
  getState?: () => { readonly status: string; readonly reason?: string | undefined };
  /** `false`: speak the base messages only. */
  initialize?: InitializeOptions | false;
  /** What each command of this executor may use, besides what the policy says. */
  resourceLimits?: ResourceLimits;
  /** Aborts attaching, and closes the channel; has no effect once the executor is attached. */
  signal?: AbortSignal;
  /** Send `shutdown` before closing, so that the executor ends its sessions and itself. Default true. */
  shutdownOnClose?: boolean;
}

/** An attached executor. */
export interface AttachedExecutor {
  readonly name: string;
  /** Undefined for an executor that supports only the base messages. */
  readonly host: HostInfo | undefined;
  /** For `initialize.resumeSessionId`, after the channel was lost. */
  readonly sessionId: string | undefined;
  /** Why it is offline; undefined while it is connected or reconnecting. */
  readonly offlineReason: string | undefined;
  /** Resolves when it is offline. Never rejects. */
  readonly ended: Promise<ExecutorEnd>;
  /** Why the channel was lost, while reconnecting; otherwise undefined. */
  readonly reconnectingReason: string | undefined;
  /** The newest protocol violations, at most `limits.problemsKept`. */
  readonly problems: readonly ProtocolProblem[];
  /** Number of all protocol violations, including those no longer retained. */
  readonly problemCount: number;
  /** Whether `openExecServer` is offered; known once it is attached. */
  readonly servesFiles: boolean;
  /**
   * Opens a channel to the exec-server of this executor: files, HTTP and processes of its host, for programs. No policy
   * applies. The channel ends with the one to the executor; after that is resumed, another can be opened, and a session
   * of the exec-server resumed over it. The caller owns it; `signal` cancels opening it.
   * @throws OrchestratorError `unsupported` if the executor offers tools only, `exec_server_failed`, `closed`
   */
  openExecServer(options?: { signal?: AbortSignal }): Promise<Channel>;
  /**
   * Ends its sessions and its connection; it is offline then, under its name, until another executor is attached under that. For the
   * owner of the place behind it, such as an environment. Resolves once the executor has ended them, or after `timings.shutdownMs`.
   * Idempotent; never rejects.
   */
  close(): Promise<void>;
}

/** Why an executor is offline, and whether `detach` or `close` has ended it. */
export interface ExecutorEnd {
  reason: string;
  isDetached: boolean;
}

/** Describes a connection as an attached executor. */
export const describeExecutor = (executor: ExecutorConnection): AttachedExecutor => ({
  name: executor.name,
  host: executor.host,
  get sessionId() {
    return executor.sessionId;
  },
  get offlineReason() {
    return executor.offlineReason;
  },
  get ended() {
    return executor.ended.then((reason) => ({ reason, isDetached: executor.isDetached }));
  },
  get reconnectingReason() {
    return executor.lostReason;
  },
  get problems() {
    return executor.problems.recent;
  },
  get problemCount() {
    return executor.problems.count;
  },
  get servesFiles() {
    return executor.can("exec_server");
  },
  openExecServer: ({ signal } = {}) => asOrchestratorErrors(executor.openExecServer(signal)),
  close: () => executor.closeGently(),
});

/** Closes an unused channel, once it is open. */
export function closeLater(channel: Channel | Promise<Channel>): void {
  Promise.resolve(channel).then(
    (opened) => opened.close(),
    () => {},
  );
}
