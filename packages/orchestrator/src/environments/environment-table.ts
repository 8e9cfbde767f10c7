import { waitUnlessAborted } from "@codex/clock";
import type { PolicyOptions } from "@codex/policy";
import { messageOf } from "@codex/values";
import type { Approver } from "../approvals/approver.js";
import { OrchestratorError } from "../errors.js";
import type { OrchestratorLimits } from "../limits.js";
import { withoutUrlSecrets } from "../text.js";
import type { AttachableEnvironment, EnvironmentOptions, ExecutorAttachment } from "./environment.js";

/** `aborted`: the wait was cancelled, not the attempt. */
export type Connected = { kind: "connected" } | { kind: "failed"; reason: string } | { kind: "aborted" };

/** An environment, its options, and what is known of attempts to attach its executor. */
interface Entry {
  environment: AttachableEnvironment;
  options: EnvironmentOptions;
  /** Aborted when it is removed: whatever it attaches later is refused. */
  removed: AbortController;
  connecting: Promise<Connected> | undefined;
  /** Reason of the last failure to attach. */
  failure: string | undefined;
}

/** The environments whose executors are attached on first use, and their options. */
export class EnvironmentTable {
  readonly #orchestrator: ExecutorAttachment;
  readonly #closing: AbortSignal;
  readonly #environments = new Map<string, Entry>();

  constructor(orchestrator: ExecutorAttachment, closing: AbortSignal) {
    this.#orchestrator = orchestrator;
    this.#closing = closing;
  }

  add(environment: AttachableEnvironment, options: EnvironmentOptions): void {
    const removed = new AbortController();
    this.#environments.set(environment.id, {
      environment,
      options,
      removed,
      connecting: undefined,
      failure: undefined,
    });
  }

  delete(id: string): boolean {
    this.#environments.get(id)?.removed.abort();
    return this.#environments.delete(id);
  }

  has(id: string): boolean {
    return this.#environments.has(id);
  }

  /** Why one more environment cannot be added. */
  refusal({ environments: most }: Pick<OrchestratorLimits, "environments">): OrchestratorError | undefined {
    const { size } = this.#environments;
    if (size < most) return undefined;
    return new OrchestratorError(
      "too_many_environments",
      `there are ${size} environments (limit ${most} environments)`,
    );
  }

  fallbackOf(id: string): string | undefined {
    return this.#environments.get(id)?.options.fallback;
  }

  policyOf(id: string): PolicyOptions | undefined {
    return this.#environments.get(id)?.options.policy;
  }

  approverOf(id: string): Approver | undefined {
    return this.#environments.get(id)?.options.approver;
  }

  /** The state of an environment without an attached executor. */
  describe(id: string): { status: string; reason?: string } {
    const entry = this.#environments.get(id);
    const own = entry?.environment.state;
    const failure = entry?.failure;
    const reason = own?.reason ?? failure;
    const status = own?.status ?? (entry?.connecting ? "connecting" : failure ? "failed" : "disconnected");
    // Its connection may be ready although no executor could be attached.
    const shown = status === "ready" ? (failure === undefined ? "disconnected" : "failed") : status;
    return { status: shown, ...(reason === undefined ? {} : { reason: withoutUrlSecrets(reason) }) };
  }

  /** Attaches its executor; concurrent callers share one attempt, which ends for them when the environment is removed. Never rejects. */
  async connect(id: string, signal: AbortSignal | undefined): Promise<Connected> {
    const entry = this.#environments.get(id);
    if (entry === undefined) return { kind: "failed", reason: "there is no such environment" };
    entry.connecting ??= this.#attach(entry).finally(() => {
      entry.connecting = undefined;
    });
    const { removed } = entry;
    const over = AbortSignal.any([this.#closing, removed.signal, ...(signal === undefined ? [] : [signal])]);
    const connected = await waitUnlessAborted(over, entry.connecting);
    if (removed.signal.aborted && !this.#closing.aborted) return { kind: "failed", reason: "it was detached" };
    return connected ?? { kind: "aborted" };
  }

  async #attach(entry: Entry): Promise<Connected> {
    const signal = AbortSignal.any([this.#closing, entry.removed.signal]);
    const orchestrator: ExecutorAttachment = {
      attach: ({ signal: given, ...options }) =>
        this.#orchestrator.attach({
          ...options,
          signal: given === undefined ? signal : AbortSignal.any([given, signal]),
        }),
    };
    try {
      await entry.environment.attach(orchestrator, { signal });
      entry.failure = undefined;
      return { kind: "connected" };
    } catch (error) {
      entry.failure = withoutUrlSecrets(messageOf(error));
      return { kind: "failed", reason: entry.failure };
    }
  }
}
