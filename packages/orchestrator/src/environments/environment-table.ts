import { waitUnlessAborted } from "@codex/clock";
import type { PolicyOptions } from "@codex/policy";
import { messageOf } from "@codex/telemetry";
import type { Approver } from "../approvals/approver.js";
import { OrchestratorError } from "../errors.js";
import type { OrchestratorLimits } from "../limits.js";
import { withoutUrlSecrets } from "../text.js";
import type { AttachableEnvironment, EnvironmentOptions, ExecutorAttachment } from "./environment.js";

/** `aborted`: the wait was cancelled, not the attempt. */
export type Connected = { kind: "connected" } | { kind: "failed"; reason: string } | { kind: "aborted" };

/** The environments whose executors are attached on first use, and their options. */
export class EnvironmentTable {
  readonly #orchestrator: ExecutorAttachment;
  readonly #closing: AbortSignal;
  readonly #environments = new Map<string, { environment: AttachableEnvironment; options: EnvironmentOptions }>();
  readonly #connecting = new Map<string, Promise<Connected>>();
  /** Reason of the last failure to attach, by id. */
  readonly #failures = new Map<string, string>();

  constructor(orchestrator: ExecutorAttachment, closing: AbortSignal) {
    this.#orchestrator = orchestrator;
    this.#closing = closing;
  }

  add(environment: AttachableEnvironment, options: EnvironmentOptions): void {
    this.#environments.set(environment.id, { environment, options });
  }

  delete(id: string): boolean {
    this.#failures.delete(id);
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
    const own = this.#environments.get(id)?.environment.state;
    const failure = this.#failures.get(id);
    const reason = own?.reason ?? failure;
    const status = own?.status ?? (this.#connecting.has(id) ? "connecting" : failure ? "failed" : "disconnected");
    // Its connection may be ready although no executor could be attached.
    const shown = status === "ready" ? (failure === undefined ? "disconnected" : "failed") : status;
    return { status: shown, ...(reason === undefined ? {} : { reason: withoutUrlSecrets(reason) }) };
  }

  /** Attaches its executor; concurrent callers share one attempt. Never rejects. */
  async connect(id: string, signal: AbortSignal | undefined): Promise<Connected> {
    const known = this.#environments.get(id);
    if (known === undefined) return { kind: "failed", reason: "there is no such environment" };
    let connecting = this.#connecting.get(id);
    if (connecting === undefined) {
      connecting = this.#attach(known.environment);
      this.#connecting.set(id, connecting);
      void connecting.then(() => this.#connecting.delete(id));
    }
    const over = signal === undefined ? this.#closing : AbortSignal.any([signal, this.#closing]);
    return (await waitUnlessAborted(over, connecting)) ?? { kind: "aborted" };
  }

  async #attach(environment: AttachableEnvironment): Promise<Connected> {
    try {
      await environment.attach(this.#orchestrator, { signal: this.#closing });
      this.#failures.delete(environment.id);
      return { kind: "connected" };
    } catch (error) {
      const reason = withoutUrlSecrets(messageOf(error));
      this.#failures.set(environment.id, reason);
      return { kind: "failed", reason };
    }
  }
}
