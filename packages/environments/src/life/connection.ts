import { Backoff, type Clock, pause, waitUnlessAborted } from "@codex/clock";
import { EnvironmentError } from "../errors.js";
import { FIRST_RETRY_MS, LONGEST_RETRY_MS } from "../limits.js";
import { toEnvironmentError } from "./reason.js";
import type { StateBox } from "./state-box.js";

/** Dependencies of a connection. */
export interface ConnectionOptions<Remote> {
  id: string;
  box: StateBox;
  clock: Clock;
  /** Returns 0 to 1; jitter for the pause after a failure. */
  random: () => number;
  /** Opens a connection; the signal aborts it. */
  open(signal: AbortSignal): Promise<Remote>;
  /** Releases an opened connection. */
  free(remote: Remote): Promise<void>;
  secrets: readonly string[];
}

/** Holds one connection shared by all callers: opened on first use, and opened again after it was lost or failed. */
export class Connection<Remote> {
  readonly #options: ConnectionOptions<Remote>;
  readonly #abort = new AbortController();
  #remote: Remote | undefined;
  #attempt: Promise<Remote> | undefined;
  readonly #backoff: Backoff;
  /** Earliest time of the next attempt after a failure, by the clock. */
  #notBefore: number | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: ConnectionOptions<Remote>) {
    this.#options = options;
    this.#backoff = new Backoff({ firstMs: FIRST_RETRY_MS, longestMs: LONGEST_RETRY_MS, random: options.random });
  }

  /** The current connection; undefined while there is none. */
  get remote(): Remote | undefined {
    return this.#remote;
  }

  /** @throws EnvironmentError, or the reason of `signal`, which ends only this wait */
  async get(signal?: AbortSignal): Promise<Remote> {
    signal?.throwIfAborted();
    if (this.#closing !== undefined) throw this.#closed();
    if (this.#remote !== undefined) return this.#remote;
    this.#attempt ??= this.#open().finally(() => {
      this.#attempt = undefined;
    });
    if (signal === undefined) return this.#attempt;
    const got = await waitUnlessAborted(signal, this.#attempt);
    if (got === undefined) throw signal.reason;
    return got;
  }

  /** Drops a connection that has ended: the next use opens another one. `reason`: why it was lost; undefined if it was closed on this side. */
  lose(remote: Remote, reason: string | undefined): void {
    if (this.#remote !== remote) return;
    this.#remote = undefined;
    this.#options.box.set(reason === undefined ? "disconnected" : "failed", reason);
    void this.#options.free(remote);
  }

  /** Idempotent; never rejects. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#abort.abort(this.#closed());
    await this.#attempt?.catch(() => {}); // reported to its callers
    const remote = this.#remote;
    this.#remote = undefined;
    if (remote !== undefined) await this.#options.free(remote);
    this.#options.box.set("disconnected");
  }

  async #open(): Promise<Remote> {
    const { id, box, open, free, secrets } = this.#options;
    const { signal } = this.#abort;
    try {
      await this.#pause(signal);
      box.set("connecting");
      const remote = await open(signal);
      if (signal.aborted) {
        await free(remote);
        throw signal.reason;
      }
      this.#backoff.reset();
      this.#notBefore = undefined;
      this.#remote = remote;
      box.set("ready");
      return remote;
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      const failure = toEnvironmentError(id, error, secrets);
      this.#notBefore = this.#options.clock.now() + this.#backoff.next();
      box.set("failed", failure.reason);
      throw failure;
    }
  }

  async #pause(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const ms = this.#notBefore === undefined ? 0 : this.#notBefore - clock.now();
    if (ms > 0) await pause(clock, ms, signal);
  }

  #closed(): EnvironmentError {
    return new EnvironmentError("closed", this.#options.id, "it was closed");
  }
}
