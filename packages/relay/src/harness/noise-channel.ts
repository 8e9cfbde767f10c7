import { randomUUID } from "node:crypto";
import type { Channel, ChannelLimits } from "@codex/channel";
import { Backoff, type Clock, pause, systemClock } from "@codex/clock";
import type { Logger } from "@codex/telemetry";
import { messageOf } from "@codex/values";
import { FIRST_RESUME_MS, LONGEST_RESUME_MS, RECOVERY_MS, SOCKET_CLOSE_MS } from "../limits.js";
import { InitiatorHandshake } from "../noise/handshake.js";
import { createIdentity, fingerprintOf, type NoiseIdentity, type NoisePublicKey } from "../noise/keys.js";
import { loadMlKem, type MlKem } from "../noise/ml-kem.js";
import { ResumptionInitiator } from "../noise/resumption.js";
import type { Resumption } from "../noise/resumption-secret.js";
import { type Meeting, type RegistryAddress, requestMeeting } from "../registry/registry.js";
import { RegistryError } from "../registry/registry-error.js";
import { RelayedStream } from "../streams/relayed-stream.js";
import { type HarnessSocket, openHarnessSocket, StreamRefusedError } from "./harness-socket.js";

/** Options of a channel to an executor behind a rendezvous. */
export interface NoiseChannelOptions {
  registry: RegistryAddress;
  /**
   * Throws for an untrusted key. Called for each connection before anything is sent. Default: trusts the key that the
   * registry returns.
   */
  checkKey?: (key: NoisePublicKey) => void | Promise<void>;
  /** Long-lived keys of this harness. Default: new keys. */
  identity?: NoiseIdentity;
  limits?: Partial<ChannelLimits>;
  clock?: Clock;
  /** Random number from 0 to 1. */
  random?: () => number;
  /** Cancels opening. */
  signal?: AbortSignal;
  log?: Logger | undefined;
}

/**
 * Opens a channel to the executor of an environment. If its socket is lost, it continues over another one, opened within 45 s, without losing or
 * repeating anything; with a Codex executor the channel ends.
 * @throws RegistryError, SocketError, StreamRefusedError, what `checkKey` throws, or the reason of the signal
 */
export async function openNoiseChannel(options: NoiseChannelOptions): Promise<Channel> {
  const mlKem = await loadMlKem();
  const harness = new NoiseHarness(options, mlKem, options.identity ?? createIdentity(mlKem));
  return harness.open();
}

class NoiseHarness {
  readonly #options: NoiseChannelOptions;
  readonly #mlKem: MlKem;
  readonly #identity: NoiseIdentity;
  readonly #clock: Clock;
  readonly #abort = new AbortController();
  readonly #stream: RelayedStream;
  #socket: HarnessSocket | undefined;
  /** Fingerprint of the executor of this stream. */
  #executor = "";
  /** Empty until an executor has been chosen by its labels. */
  #environmentId: string;
  #isRecovering = false;
  /** From the first handshake. */
  #resumption: Resumption | undefined;
  /** The executor has refused the last resumption handshake, or did not respond to it: the next one is complete. */
  #isResumptionRefused = false;

  constructor(options: NoiseChannelOptions, mlKem: MlKem, identity: NoiseIdentity) {
    this.#options = options;
    this.#environmentId = options.registry.environmentId;
    this.#mlKem = mlKem;
    this.#identity = identity;
    this.#clock = options.clock ?? systemClock;
    this.#stream = new RelayedStream({
      role: "harness",
      clock: this.#clock,
      limits: options.limits,
      onBroken: (reason) => this.#lose(reason),
      onFull: (isFull) => this.#socket?.setPaused(isFull),
      onEnded: () => {
        this.#abort.abort();
        this.#socket?.end(SOCKET_CLOSE_MS);
      },
    });
  }

  async open(): Promise<Channel> {
    const socket = await this.#connect(this.#options.signal);
    this.#stream.attach(socket.link, socket.turns);
    socket.start();
    return this.#stream.channel;
  }

  async #connect(signal: AbortSignal | undefined): Promise<HarnessSocket> {
    const { registry, checkKey, log } = this.#options;
    const address = { ...registry, environmentId: this.#environmentId };
    const meeting = await requestMeeting(address, this.#identity.publicKey, signal);
    await checkKey?.(meeting.executor);
    this.#checkSame(meeting);
    this.#environmentId = meeting.environmentId;
    const streamId = randomUUID();
    const socket = await openHarnessSocket({
      meeting,
      streamId,
      handshake: this.#createHandshake(meeting, streamId),
      clock: this.#clock,
      ca: registry.ca,
      signal,
      onData: (seq, payload) => this.#stream.receiveData(seq, payload),
      onControl: (message) => this.#stream.receiveControl(message),
      onLost: (reason) => {
        if (this.#socket === socket) this.#lose(reason);
      },
    });
    this.#socket = socket;
    this.#resumption ??= socket.resumption;
    this.#isResumptionRefused = false;
    log?.info?.("connected to an executor", { streamId, executor: this.#executor });
    return socket;
  }

  #createHandshake({ environmentId, registrationId, executor }: Meeting, streamId: string) {
    const context = { environmentId, registrationId, streamId };
    const resumption = this.#resumption;
    if (resumption !== undefined && this.#stream.acceptsResumption && !this.#isResumptionRefused) {
      return new ResumptionInitiator({ context, resumption });
    }
    return new InitiatorHandshake({ context, identity: this.#identity, mlKem: this.#mlKem, responder: executor });
  }

  /** A stream can only be resumed at the executor where it began. */
  #checkSame({ executor }: Meeting): void {
    const fingerprint = fingerprintOf(executor);
    if (this.#executor !== "" && this.#executor !== fingerprint) throw new ReplacedError();
    this.#executor = fingerprint;
  }

  #lose(reason: string): void {
    const socket = this.#socket;
    this.#socket = undefined;
    socket?.end(0);
    this.#options.log?.warn?.("the stream to the executor was lost", { reason });
    this.#stream.detach(reason);
    if (this.#stream.isResumable && !this.#isRecovering) void this.#recover(reason);
  }

  async #recover(reason: string): Promise<void> {
    const { random = Math.random } = this.#options;
    const backoff = new Backoff({ firstMs: FIRST_RESUME_MS, longestMs: LONGEST_RESUME_MS, random });
    const { signal } = this.#abort;
    const until = this.#clock.now() + RECOVERY_MS;
    this.#isRecovering = true;
    let problem = reason;
    let retryAfterMs: number | undefined;
    while (!signal.aborted && this.#stream.isResumable) {
      await pause(this.#clock, backoff.next(retryAfterMs), signal).catch(() => {});
      if (signal.aborted) return;
      try {
        const socket = await this.#connect(signal);
        this.#isRecovering = false;
        this.#stream.resume(socket.link, socket.turns);
        socket.start();
        return;
      } catch (error) {
        if (signal.aborted) return;
        problem = messageOf(error);
        if (error instanceof StreamRefusedError) this.#isResumptionRefused = true;
        retryAfterMs = error instanceof RegistryError ? error.retryAfterMs : undefined;
        if (isFinal(error) || this.#clock.now() >= until) break;
      }
    }
    this.#stream.fail(`${reason}; it could not be resumed: ${problem}`);
  }
}

/** The registry returned a different executor. */
class ReplacedError extends Error {
  constructor() {
    super("the executor was replaced by another one");
  }
}

const FINAL_STATUS: ReadonlySet<number | undefined> = new Set([401, 403, 404]);

function isFinal(error: unknown): boolean {
  if (error instanceof ReplacedError) return true;
  return error instanceof RegistryError && FINAL_STATUS.has(error.status);
}
