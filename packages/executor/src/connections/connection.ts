import type { Channel } from "@codex/channel";
import { type Clock, waitAtMost } from "@codex/clock";
import type { ExecBackend } from "@codex/exec-backend";
import type { HostInfo, OrchestratorMessage, OutputPosition, ProcessOutcome } from "@codex/executor-protocol";
import { EXECUTOR_PROTOCOL_VERSION } from "@codex/executor-protocol";
import { defined, evictOldest } from "@codex/values";
import { type Admission, createAdmission } from "../admission/admission.js";
import { ApprovalLedger } from "../admission/approval-ledger.js";
import type { CeilingGuard } from "../admission/ceiling.js";
import { Calls } from "../calls/calls.js";
import type { ExecutorTelemetry } from "../executor-telemetry.js";
import { Ledger } from "../idempotency/ledger.js";
import type { Ids } from "../ids.js";
import {
  DRAIN_GRACE_MS,
  DRAIN_POLL_MS,
  DRAIN_QUIET_MS,
  type ExecutorLimits,
  LAST_CALLS_MS,
  LAST_REPORTS_MS,
  LAST_SESSIONS_MS,
} from "../limits.js";
import { Outbox, sendOn } from "../output/outbox.js";
import { getAckBytes } from "../output/retention.js";
import type { AnswerMessage } from "../sessions/session-questions.js";
import { type EndedSession, UnifiedExec } from "../sessions/unified-exec.js";
import type { SessionTool } from "../tools/session-tool.js";
import type { ToolRegistry } from "../tools/tool-registry.js";
import { type ExecServerOffer, Tunnels } from "./tunnels.js";

export interface ConnectionOptions {
  /** Hosts of detached sessions that are to be closed after them. */
  leaving: Set<Promise<void>>;
  /** A function creates a backend for this connection, closed with it. */
  backend: ExecBackend | (() => ExecBackend);
  sessionTools: ReadonlyMap<string, SessionTool>;
  registry: ToolRegistry;
  env: Readonly<Record<string, string | undefined>>;
  ceiling: CeilingGuard | undefined;
  limits: ExecutorLimits;
  ids: Ids;
  clock: Clock;
  getHost: () => HostInfo;
  telemetry: ExecutorTelemetry;
  execServer: ExecServerOffer;
  /** The sessions of every orchestrator of this executor. */
  all: Set<UnifiedExec>;
  /** How long the connection can be resumed after its channel was lost, milliseconds; 0: not at all. */
  graceMs: number;
  /** Whether the executor stays when the channel ends. */
  stays: boolean;
}

/**
 * What is lost when the orchestrator does not resume: `work` in progress, `results` of finished work (responses, output, a
 * server that was left running), or `nothing`.
 */
export type Unfinished = "work" | "results" | "nothing";

/** What was negotiated for the current channel. */
interface Terms {
  /** Live output waits for `ack`. */
  flowControl: boolean;
  /** Live output is sent in binary frames. */
  binary: boolean;
  /** Results of the standard tools are sent without text. */
  rendersResults: boolean;
  answersPrograms: boolean;
  answersHosts: boolean;
}

type InitializeMessage = Extract<OrchestratorMessage, { type: "initialize" }>;

/** One orchestrator's connection: its calls and sessions, over one channel and those that it is resumed over. */
export class Connection {
  /** A secret: it is all that is needed to resume the connection. */
  readonly id: string;
  /** Counts up; for logs. */
  readonly number: number;
  readonly outbox: Outbox;
  readonly calls: Calls;
  readonly tunnels: Tunnels;
  readonly #options: ConnectionOptions;
  readonly #backend: ExecBackend;
  readonly #admission: Admission;
  readonly #unifiedExec: UnifiedExec;
  readonly #unwatch: () => void;
  /** Outcomes of sessions that the orchestrator may not have received, newest last. */
  readonly #exits = new Map<number, ProcessOutcome>();
  #ending: Promise<EndedSession[]> | undefined;
  /** The largest number of an attempt to resume. */
  #lastAttempt = 0;

  constructor(channel: Channel, options: ConnectionOptions) {
    const { backend, sessionTools, registry, ceiling, limits, telemetry } = options;
    this.#options = options;
    this.id = options.ids.connection();
    this.number = telemetry.accepted.value + 1;
    this.outbox = new Outbox(channel, limits.binaryDeltaBytes);
    this.#backend = typeof backend === "function" ? backend() : backend;
    const approvals = new ApprovalLedger(limits.rememberedApprovals);
    this.#admission = createAdmission({ backend: this.#backend, ceiling, approvals });
    const ledger = new Ledger(limits);
    const { outbox } = this;
    this.#unifiedExec = new UnifiedExec({
      ...options,
      backend: this.#backend,
      admission: this.#admission,
      ledger,
      events: {
        isLive: () => outbox.isLive(),
        receiver: outbox,
        sendExit: (processId, outcome) => this.#sendExit(processId, outcome),
        sendQuestion: (message) => void outbox.notify(message),
        sendReport: (message) => void outbox.notify(message),
      },
    });
    const isResumable = () => this.isResumable;
    this.calls = new Calls({
      outbox,
      sessionTools,
      registry,
      unifiedExec: this.#unifiedExec,
      ledger,
      limits,
      isResumable,
      telemetry,
    });
    this.tunnels = new Tunnels({
      offer: options.execServer,
      limits,
      send: (message) => outbox.send(message),
      log: telemetry.log,
    });
    this.#unwatch = registry.watch(() => void outbox.notify({ type: "tools_changed" }));
  }

  /** Whether it can be resumed after its channel was lost. */
  get isResumable(): boolean {
    return this.#options.graceMs > 0 && this.outbox.isLive() && this.#ending === undefined;
  }

  /** What would be lost with it. */
  get unfinished(): Unfinished {
    if (this.calls.isBusy || this.#unifiedExec.isBusy || this.tunnels.wasUsed) return "work";
    return this.calls.hasUnreceivedResults || this.#unifiedExec.wasUsed ? "results" : "nothing";
  }

  /** Whether a newer attempt to resume has arrived before this one; false for an attempt without a number. */
  isOutdated({ attempt }: InitializeMessage): boolean {
    return attempt !== undefined && attempt <= this.#lastAttempt;
  }

  get graceMs(): number {
    return this.#options.graceMs;
  }

  /** Responds to the first `initialize`. Resolves when the next message may be handled. */
  async initialize(message: InitializeMessage): Promise<void> {
    const { requestId, acknowledges = false } = message;
    const host = await this.describeHost();
    // Applied after the response, so that no notification is sent before it.
    const terms = this.#negotiate(message);
    const sent = this.#sendInitializeResponse(requestId, host, terms);
    this.#applyTerms(acknowledges, terms);
    await sent;
  }

  /**
   * Continues over another channel. The previous one is closed, even if it seems to be open.
   * Resolves when the next message may be handled.
   */
  async resume(channel: Channel, message: InitializeMessage, host: HostInfo): Promise<void> {
    const { requestId, acknowledges, attempt } = message;
    this.#lastAttempt = attempt ?? this.#lastAttempt;
    this.tunnels.drop(RESUMED);
    const before = this.outbox.attach(channel);
    if (before !== undefined) closeReplaced(before);
    const terms = this.#negotiate(message);
    this.#applyTerms(acknowledges ?? this.outbox.acknowledges, terms);
    const { resendResults, ...resumed } = this.calls.resume(message);
    const lastAttempt = this.#lastAttempt;
    const sent = this.#sendInitializeResponse(requestId, host, terms, { ...resumed, lastAttempt });
    // After the results: one of them may be the first to name the session.
    void resendResults().then(() => this.#repeatExits());
    this.#unifiedExec.repeatQuestions();
    await sent;
  }

  /** The channel has ended; the connection may be resumed over another. */
  detach(channel: Channel): void {
    this.tunnels.drop("the channel to the orchestrator was lost");
    this.outbox.detach(channel);
  }

  /** Whether the programs of commands can be judged on its host. Never rejects. */
  async openGate(requestId: string): Promise<void> {
    const reason =
      this.#backend.openGate === undefined ? "this host does not hold rules" : await this.#backend.openGate();
    const answer = { type: "open_exec_gate_response", requestId, holds: reason === undefined } as const;
    await this.outbox.send({ ...answer, ...defined({ reason }) });
  }

  answerQuestion(answer: AnswerMessage): void {
    this.#unifiedExec.answerQuestion(answer);
  }

  acknowledge(answers: readonly string[] = [], output: readonly OutputPosition[] = []): void {
    this.calls.acknowledge(answers, output);
  }

  /** From now on it starts nothing; what runs goes on. Resolves when its exec-server has ended what runs there, within `waitMs`. */
  async refuseStarts(waitMs: number): Promise<void> {
    this.calls.drain();
    this.#unifiedExec.refuseStarts();
    await this.tunnels.drain(waitMs);
  }

  /**
   * Ends its sessions while their last output, and how they ended, are still sent; nothing more is started. `end` is to follow.
   * Resolves when the orchestrator seems to have everything, has gone, or after some seconds. Never rejects.
   */
  async drain(): Promise<void> {
    const { clock } = this.#options;
    this.calls.drain();
    const tunnels = waitAtMost(clock, LAST_SESSIONS_MS, this.tunnels.drain());
    const ending = this.#unifiedExec.endSessions(undefined, DRAIN_GRACE_MS);
    const ended = (await waitAtMost(clock, LAST_SESSIONS_MS, ending)) ?? [];
    await tunnels;
    await waitAtMost(clock, LAST_CALLS_MS, this.calls.settle());
    this.calls.cancelAll();
    const reportsUntil = clock.now() + LAST_REPORTS_MS;
    const isReported = () => ended.every(({ session }) => session.outcomeReported) || clock.now() >= reportsUntil;
    await this.#untilQuiet(isReported);
  }

  /** An orchestrator may follow a result with another call, such as one for the rest of the output. */
  async #untilQuiet(isReported: () => boolean): Promise<void> {
    const { clock } = this.#options;
    const deadline = clock.now() + LAST_SESSIONS_MS;
    let { arrived } = this.calls.traffic;
    let quietSince = clock.now();
    while (this.#ending === undefined && this.outbox.hasChannel && clock.now() < deadline) {
      await new Promise<void>((resolve) => clock.after(DRAIN_POLL_MS, resolve));
      const now = this.calls.traffic;
      if (now.arrived !== arrived || !now.isIdle || !isReported()) quietSince = clock.now();
      arrived = now.arrived;
      if (clock.now() - quietSince >= DRAIN_QUIET_MS) return;
    }
  }

  /** Ends its calls and sessions; resolves with how the running sessions ended. Idempotent; never rejects. */
  end(note?: string): Promise<EndedSession[]> {
    this.#ending ??= this.#end(note);
    return this.#ending;
  }

  async #end(note: string | undefined): Promise<EndedSession[]> {
    const { clock } = this.#options;
    this.#unwatch();
    this.outbox.end();
    this.calls.cancelAll();
    this.calls.forgetAll();
    // A tool may ignore its cancellation, and a remote host the request to end a session.
    const tunnels = waitAtMost(clock, LAST_SESSIONS_MS, this.tunnels.close());
    const ended = (await waitAtMost(clock, LAST_SESSIONS_MS, this.#unifiedExec.leave(note))) ?? [];
    await tunnels;
    const closeBackend = async () => {
      if (typeof this.#options.backend === "function") await this.#backend.close();
    };
    if (!this.#unifiedExec.hasDetached) await closeBackend();
    else {
      const closed = this.#unifiedExec.left.then(closeBackend).finally(() => this.#options.leaving.delete(closed));
      this.#options.leaving.add(closed);
    }
    await waitAtMost(clock, LAST_CALLS_MS, this.calls.settle());
    this.calls.forgetAll();
    await this.outbox.close();
    return ended;
  }

  async describeHost(): Promise<HostInfo> {
    const sandbox = await this.#admission.describe();
    const host = this.#options.getHost();
    return sandbox === undefined ? host : { ...host, sandbox };
  }

  /** Grants only what was requested, and binary frames only over a channel that can carry them. */
  #negotiate(message: InitializeMessage): Terms {
    const { flowControl = false, binaryOutput = false, structuredResults = false } = message;
    const { answersPrograms = false, answersHosts = false } = message;
    const binary = binaryOutput && this.outbox.canSendBinary;
    return { flowControl, binary, rendersResults: structuredResults, answersPrograms, answersHosts };
  }

  /** An orchestrator acknowledges only if this was negotiated. */
  #applyTerms(acknowledges: boolean, { flowControl, binary, rendersResults }: Terms): void {
    const isAcknowledging = flowControl || (acknowledges && this.#options.graceMs > 0);
    this.outbox.initialize({ acknowledges: isAcknowledging, binary, rendersResults });
  }

  async #sendInitializeResponse(
    requestId: string,
    host: HostInfo,
    { flowControl, binary, answersPrograms, answersHosts }: Terms,
    resumed: { resend?: string[]; lastSequence?: number; lastAttempt?: number } = {},
  ): Promise<void> {
    const { graceMs, limits, stays } = this.#options;
    const ackBytes = getAckBytes(limits.log);
    const managesNetwork =
      this.#backend.takesNetwork === true && host.sandbox !== undefined && host.sandbox.kind !== "none";
    const resume = { graceMs, ackBytes, ...resumed };
    await this.outbox.send({
      type: "initialize_response",
      requestId,
      protocolVersion: EXECUTOR_PROTOCOL_VERSION,
      sessionId: this.id,
      capabilities: [
        "tool_output",
        "cancel_tool",
        "session_exited",
        "concurrent_input",
        "clients",
        ...(stays ? ["detached"] : []),
        ...(graceMs > 0 ? ["resume"] : []),
        ...(flowControl ? ["flow_control"] : []),
        ...(binary ? ["binary_output"] : []),
        ...(this.tunnels.isOffered ? ["exec_server"] : []),
        ...(this.#backend.takesGate ? ["exec_gate"] : []),
        ...(this.#backend.takesLimits ? ["limits"] : []),
        ...(this.#backend.takesGate && answersPrograms ? ["program_questions"] : []),
        ...(managesNetwork ? ["managed_network", "host_reports"] : []),
        ...(host.sandbox?.kind === "bubblewrap" && managesNetwork && host.sandbox.ceiling === undefined
          ? ["network_routes"]
          : []),
        ...(managesNetwork && answersHosts ? ["host_questions"] : []),
      ],
      host,
      ...(flowControl ? { ackBytes } : {}),
      ...(graceMs > 0 ? { resume } : {}),
    });
  }

  #sendExit(processId: number, outcome: ProcessOutcome): void {
    this.#exits.delete(processId);
    this.#exits.set(processId, outcome);
    evictOldest(this.#exits, this.#options.limits.recentSessions);
    void this.outbox.notify({ type: "session_exited", processId, outcome });
  }

  #repeatExits(): void {
    for (const [processId, outcome] of this.#exits) {
      if (this.#unifiedExec.table.peek(processId)?.process.outcome.kind === "running") continue; // a later session with the same id
      void this.outbox.notify({ type: "session_exited", processId, outcome });
    }
  }
}

const RESUMED = "the connection was resumed over another channel";

/** Closes a replaced channel. Usually its peer is gone; one that is not receives the reason. */
function closeReplaced(channel: Channel): void {
  void sendOn(channel, { type: "error", requestId: null, message: RESUMED, code: "taken_over" });
  void channel.close();
}
