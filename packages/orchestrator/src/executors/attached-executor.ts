import type { Channel } from "@codex/channel";
import type { Connector, ExecutorConnection, InitializeOptions, ProtocolProblem } from "@codex/executor-client";
import type { HostInfo } from "@codex/executor-protocol";
import { asOrchestratorErrors } from "../errors.js";

/** An executor to attach. Either `channel` or `reconnect` has to be given. */
export interface AttachOptions {
  /**
   * Environment name that models use for this executor: 1 to 64 letters, digits and `_.-`. Attaching under the name of
   * an executor that is offline replaces it.
   */
  name: string;
  /** Owned from now on: closed when attaching fails, by `detach` and by `close`. Default: `reconnect` opens it. */
  channel?: Channel | Promise<Channel>;
  /**
   * Opens another channel when the current one is lost. Called again, with exponential backoff and full jitter, for as
   * long as the executor keeps the sessions. Output continues without loss or repetition; calls wait meanwhile.
   */
  reconnect?: Connector;
  /**
   * It is no environment, and adds its tools to those of this one: calls do not name it, and what is decided about the environment
   * counts for it. Selected with the environment; always there where no environment has this name. Default: it is an environment.
   */
  toolsFor?: string;
  /** `false`: speak the base messages only. */
  initialize?: InitializeOptions | false;
  /** Aborts attaching, and closes the channel; has no effect once the executor is attached. */
  signal?: AbortSignal;
  /** Send `shutdown` before closing, so that the executor ends its sessions and itself. Default true. */
  shutdownOnClose?: boolean;
}

/** An executor as its user sees it. */
export interface AttachedExecutor {
  readonly name: string;
  /** Undefined for one that knows only the base messages. */
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
  /** Number of all of them, those included that are not kept. */
  readonly problemCount: number;
  /** Whether `openExecServer` is offered; known once it is attached. */
  readonly servesFiles: boolean;
  /**
   * Opens a channel to the exec-server beside this executor: files, HTTP and processes of its host, for programs. No policy
   * is consulted. The channel ends with the one to the executor; another can be opened once that is back, and a session
   * of the exec-server resumed over it. The caller owns it; `signal` gives up opening it.
   * @throws OrchestratorError `unsupported` where the executor serves tools alone, `exec_server_failed`, `closed`
   */
  openExecServer(options?: { signal?: AbortSignal }): Promise<Channel>;
}

/** Why an executor is offline, and whether `detach` or `close` has ended it. */
export interface ExecutorEnd {
  reason: string;
  isDetached: boolean;
}

/** The same, of a connection. */
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
});

/** Closes a channel that is not used, once it is open. */
export function closeLater(channel: Channel | Promise<Channel>): void {
  Promise.resolve(channel).then(
    (opened) => opened.close(),
    () => {},
  );
}
