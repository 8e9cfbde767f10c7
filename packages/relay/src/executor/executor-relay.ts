import { randomBytes } from "node:crypto";
import type { Channel, ChannelLimits } from "@codex/channel";
import { type Clock, systemClock } from "@codex/clock";
import type { Logger } from "@codex/telemetry";
import { defined } from "@codex/values";
import { MAX_FRAME_BYTES, PING_MS, SOCKET_CLOSE_MS, STREAM_PING_MS } from "../limits.js";
import { createIdentity, fingerprintOf, type NoiseIdentity } from "../noise/keys.js";
import { loadMlKem } from "../noise/ml-kem.js";
import { type Registration, type RegistryAddress, registerExecutor, validateHarness } from "../registry/registry.js";
import { FrameSocket } from "../socket/frame-socket.js";
import { ExecutorSocket } from "./executor-socket.js";
import { HandshakeGate } from "./handshake-gate.js";
import { type EndedSocket, keepServing } from "./keep-serving.js";
import { type StreamInfo, StreamTable } from "./stream-table.js";

/** Options of an executor behind a rendezvous. */
export interface ExecutorRelayOptions {
  registry: RegistryAddress;
  /** Called with the channel of each admitted harness, which it then owns. */
  onStream(channel: Channel, info: StreamInfo): void;
  /** A display name. */
  name?: string | undefined;
  labels?: Readonly<Record<string, string>>;
  /** Displayed by the registry. */
  version?: string | undefined;
  /** Whether `onStream` is called after the handshake instead of at the first message. Default false. */
  isEager?: boolean;
  limits?: Partial<ChannelLimits>;
  /** Long-lived keys of this executor. Default: new keys. */
  identity?: NoiseIdentity;
  clock?: Clock;
  /** Random number from 0 to 1. */
  random?: () => number;
  log?: Logger | undefined;
}

/** A registered executor, which serves harnesses through a rendezvous until it is closed. */
export interface ExecutorRelay {
  /** Fingerprint of its key, for users to compare. */
  readonly fingerprint: string;
  /** Number of streams, including those that wait for their harness to return. */
  readonly streamCount: number;
  /** Whether the socket is open. */
  readonly isConnected: boolean;
  /** Ends its streams and its socket. Idempotent; never rejects. */
  close(): Promise<void>;
}

/**
 * Registers and dials; repeats both with increasing pauses when either fails or the socket ends. Streams of our own
 * harnesses outlive the socket.
 */
export async function serveExecutorRelay(options: ExecutorRelayOptions): Promise<ExecutorRelay> {
  const mlKem = await loadMlKem();
  const { clock = systemClock, random = Math.random, log, isEager = false, limits, registry } = options;
  const identity = options.identity ?? createIdentity(mlKem);
  const table = new StreamTable({ clock, limits, onStream: options.onStream });
  const gate = new HandshakeGate(clock);
  const abort = new AbortController();
  const { signal } = abort;
  let socket: FrameSocket | undefined;
  let registration: Registration | undefined;

  const register = async (): Promise<Registration> => {
    const { name, labels, version } = options;
    const more = { name, version, ...defined({ labels }) };
    return registerExecutor(registry, { key: identity.publicKey, ...more }, signal);
  };
  const serveOnce = async (onConnected: () => void): Promise<EndedSocket> => {
    registration ??= await register();
    const { registrationId, url } = registration;
    const headers = { "x-request-id": `req_${randomBytes(16).toString("hex")}` };
    socket = await FrameSocket.dial(url, {
      clock,
      headers,
      maxMessageBytes: MAX_FRAME_BYTES,
      ca: registry.ca,
      getPingMs: () => (table.count === 0 ? PING_MS : STREAM_PING_MS),
      signal,
    });
    onConnected();
    log?.info?.("connected to the rendezvous", { registrationId });
    const served = new ExecutorSocket(socket, {
      environmentId: registry.environmentId,
      registrationId,
      identity,
      mlKem,
      clock,
      table,
      gate,
      isEager,
      log,
      validate: ({ harness, ...rest }, within) =>
        validateHarness(registry, { registrationId, key: harness, ...rest }, within),
    });
    const reason = await served.serve();
    const { spreadMs } = socket;
    socket = undefined;
    return { reason, spreadMs };
  };
  const running = keepServing({
    serveOnce,
    onRefused: () => {
      registration = undefined;
    },
    clock,
    random,
    log,
    signal,
  });
  let closing: Promise<void> | undefined;
  const close = async () => {
    await table.close();
    abort.abort();
    await socket?.close(SOCKET_CLOSE_MS);
    await running;
  };
  return {
    fingerprint: fingerprintOf(identity.publicKey),
    get streamCount() {
      return table.count;
    },
    get isConnected() {
      return socket !== undefined;
    },
    close() {
      closing ??= close();
      return closing;
    },
  };
}
