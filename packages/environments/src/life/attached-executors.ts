import type { AttachedExecutor } from "@codex/orchestrator";
import { EnvironmentError } from "../errors.js";

/** The executors that one environment has attached to orchestrators. They end with it, and so do attempts to attach. */
export class AttachedExecutors {
  readonly #id: string;
  readonly #closing = new AbortController();
  readonly #attached = new Set<AttachedExecutor>();

  /** @param id of the environment */
  constructor(id: string) {
    this.#id = id;
  }

  /** Aborts when the environment is closed. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /**
   * Attaches an executor; `attach` gets a signal that also aborts when the environment is closed.
   * @throws EnvironmentError `closed`, and what `attach` throws
   */
  async add(
    signal: AbortSignal | undefined,
    attach: (signal: AbortSignal) => Promise<AttachedExecutor>,
  ): Promise<AttachedExecutor> {
    const { closing } = this;
    if (closing.aborted) throw this.#closed();
    const attached = await attach(signal === undefined ? closing : AbortSignal.any([closing, signal])).catch(
      (error) => {
        throw closing.aborted ? this.#closed() : error;
      },
    );
    if (closing.aborted) {
      await attached.close();
      throw this.#closed();
    }
    this.#attached.add(attached);
    void attached.ended.then(() => this.#attached.delete(attached));
    return attached;
  }

  /** Ends attempts, and refuses later ones. */
  refuse(): void {
    this.#closing.abort(this.#closed());
  }

  /** Ends the executors and their sessions, after `refuse`. Idempotent; never rejects. */
  async close(): Promise<void> {
    await Promise.all(Array.from(this.#attached, (attached) => attached.close()));
  }

  #closed(): EnvironmentError {
    return new EnvironmentError("closed", this.#id, "it was closed");
  }
}
