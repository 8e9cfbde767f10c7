import { type Channel, type ChannelEnd, type CloseOptions, Peer, type RequestOptions } from "@codex/channel";
import { type Clock, type Deadline, waitUnlessAborted, withDeadline } from "@codex/clock";
import { METHODS, NETWORK_POLICY_REQUEST, NOTIFICATIONS } from "@codex/exec-server-protocol";
import { defined } from "@codex/values";
import { ClientError } from "../errors.js";
import { INITIALIZE_TIMEOUT_MS, LIVENESS_MS, MAX_UNDELIVERED_BYTES, MAX_UNDELIVERED_MESSAGES } from "../limits.js";
import type { Connector } from "./connector.js";
import {
  initializeResponse,
  type ProcessNotification,
  parseClosed,
  parseExited,
  parseOutput,
  parseResponse,
} from "./responses.js";
import { watchServer } from "./watch-server.js";

export interface ConnectionOptions {
  clientName: string;
  /** The server in errors. */
  serverName: string;
  clock: Clock;
  initializeTimeoutMs?: number | undefined;
  livenessMs?: number | undefined;
  resumeSessionId: string | undefined;
  signal: AbortSignal;
  onProcess(notification: ProcessNotification): Promise<void> | undefined;
  /** Answers `network/policyRequest`. @throws for one that is none */
  onNetworkRequest(params: unknown, signal: AbortSignal): Promise<unknown>;
  onNetworkDecision(params: unknown): void;
}

/** Receives notifications of one connection, and its end. */
export interface ConnectionListener {
  /** An exception ends the connection. */
  onNotification(method: string, params: unknown): Promise<void> | undefined;
  onEnd(error: ClientError): void;
}

/** What a server reports about itself in the handshake. */
export interface ServerInfo {
  /** The result of `environment/info`; undefined from servers that do not include it in the handshake. */
  environmentInfo: unknown;
  /** A start with a sandbox is sandboxed or refused; only servers of this project report it. */
  sandboxedProcess: boolean;
  /** An HTTP exchange can be cancelled without its connection; only servers of this project report it. */
  httpCancel: boolean;
  /** Patterns of a network policy may have ports and name blocks of addresses; only servers of this project report it. */
  networkPatterns: boolean;
}

/** One connection to an exec-server after its handshake. Owns the channel. */
export class Connection {
  readonly sessionId: string;
  readonly serverInfo: ServerInfo;
  readonly ended: Promise<ChannelEnd>;
  readonly #peer: Peer;
  readonly #listeners: Set<ConnectionListener>;

  /**
   * Connects and does the handshake.
   * @throws ChannelError of the connector, RpcError of the server, ClientError `initialize_timeout` or `invalid_response`
   */
  static async open(connector: Connector, options: ConnectionOptions): Promise<Connection> {
    const channel = await openChannel(connector, options.signal);
    const listeners = new Set<ConnectionListener>();
    const peer = createPeer(channel, options, listeners);
    try {
      const { clientName, resumeSessionId = null } = options;
      const response = await withDeadline(initializeDeadline(options), (signal) =>
        peer.request(METHODS.initialize, { clientName, resumeSessionId, outcomes: true }, { signal }),
      );
      const { sessionId, environmentInfo, sandboxedProcess, httpCancel, networkPatterns } = parseResponse(
        initializeResponse,
        response,
        METHODS.initialize,
      );
      await peer.notify(NOTIFICATIONS.initialized, {});
      const unwatch = watchServer(channel, options.clock, options.livenessMs ?? LIVENESS_MS);
      void peer.ended.then(unwatch);
      return new Connection(peer, listeners, options.serverName, sessionId, {
        environmentInfo,
        sandboxedProcess: sandboxedProcess ?? false,
        httpCancel: httpCancel ?? false,
        networkPatterns: networkPatterns ?? false,
      });
    } catch (error) {
      void peer.close({ deadlineMs: 0 });
      throw error;
    }
  }

  private constructor(
    peer: Peer,
    listeners: Set<ConnectionListener>,
    serverName: string,
    sessionId: string,
    serverInfo: ServerInfo,
  ) {
    this.#peer = peer;
    this.#listeners = listeners;
    this.sessionId = sessionId;
    this.serverInfo = serverInfo;
    this.ended = peer.ended.then((end) => {
      const error = new ClientError("connection_lost", `the connection to ${serverName} was lost: ${describe(end)}`);
      for (const listener of [...listeners]) listener.onEnd(error);
      listeners.clear();
      return end;
    });
  }

  /** Rejects with RpcError, ChannelError, or the reason of `signal`. */
  request(method: string, params: unknown, signal?: AbortSignal, trace?: RequestOptions["trace"]): Promise<unknown> {
    return this.#peer.request(method, params, { ...defined({ signal }), trace });
  }

  /** Adds a listener. Returns a function that removes it; the end of the connection does so too. */
  listen(listener: ConnectionListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Idempotent; never rejects. */
  close(options?: CloseOptions): Promise<void> {
    return this.#peer.close(options);
  }
}

/** A connector may ignore the signal: a channel that it opens too late is closed. @throws what `open` throws, or the reason of `signal` */
async function openChannel(connector: Connector, signal: AbortSignal): Promise<Channel> {
  signal.throwIfAborted();
  const opening = connector.open(signal);
  const channel = await waitUnlessAborted(signal, opening);
  if (channel !== undefined && !signal.aborted) return channel;
  opening.then(
    (late) => late.close({ abrupt: true }),
    () => {},
  );
  throw signal.reason;
}

function createPeer(channel: Channel, options: ConnectionOptions, listeners: Set<ConnectionListener>): Peer {
  const toListeners = (method: string) => (params: unknown) => {
    for (const listener of [...listeners]) {
      const taken = listener.onNotification(method, params);
      if (taken !== undefined) return taken;
    }
    return undefined;
  };
  return new Peer(channel, {
    requests: new Map([[NETWORK_POLICY_REQUEST, (params, { signal }) => options.onNetworkRequest(params, signal)]]),
    notifications: new Map([
      [NOTIFICATIONS.processOutput, (params) => options.onProcess(parseOutput(params))],
      [NOTIFICATIONS.processExited, (params) => options.onProcess(parseExited(params))],
      [NOTIFICATIONS.processClosed, (params) => options.onProcess(parseClosed(params))],
      [NOTIFICATIONS.networkPolicyDecision, (params) => options.onNetworkDecision(params)],
      [NOTIFICATIONS.fsMissingChanged, toListeners(NOTIFICATIONS.fsMissingChanged)],
      [NOTIFICATIONS.httpBodyDelta, toListeners(NOTIFICATIONS.httpBodyDelta)],
    ]),
    onUnexpected(message) {
      // The server could not parse one of our messages, so its response would never arrive.
      if (message.kind === "error" && message.id === -1) throw message.error;
    },
    limits: { maxHandledBytes: MAX_UNDELIVERED_BYTES, maxHandledRequests: MAX_UNDELIVERED_MESSAGES },
  });
}

function initializeDeadline({
  clock,
  initializeTimeoutMs: ms = INITIALIZE_TIMEOUT_MS,
  signal,
}: ConnectionOptions): Deadline {
  const text = `the exec-server did not answer initialize within ${ms} ms`;
  return { clock, ms, createError: () => new ClientError("initialize_timeout", text), signal };
}

function describe(end: ChannelEnd): string {
  if (end.kind === "failed") return end.error.message;
  return end.kind === "closed" ? "closed on this side" : (end.detail ?? "closed by the server");
}
