import { setMaxListeners } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { type Channel, Peer, type RequestHandler, RpcError } from "@codex/channel";
import { ProcessError, StartError, WriteError } from "@codex/exec-backend";
import {
  decodeInitialize,
  ERROR_CODES,
  encodeBodyDelta,
  encodeProcessOutput,
  METHODS,
  NETWORK_POLICY_REQUEST,
  NOTIFICATIONS,
} from "@codex/exec-server-protocol";
import type { FileSystem } from "@codex/host-files";
import { ChunkMemory } from "@codex/native";
import type { Logger } from "@codex/telemetry";
import { messageOf } from "@codex/values";
import type { CapabilityHost } from "../capabilities/methods.js";
import type { HostEnvironment } from "../environment/methods.js";
import type { HttpClient } from "../http/http-client.js";
import {
  BUDGET_WAIT_MS,
  DRAIN_DELIVERY_MS,
  DRAIN_MS,
  DRAIN_POLL_MS,
  DRAIN_QUIET_MS,
  LIVENESS_MS,
  MAX_FILE_CALLS,
  MAX_HANDLED_REQUESTS,
  MAX_RESPONSE_BYTES,
  MAX_UNSENT_PARSE_ERRORS,
  MESSAGE_SLAB_BYTES,
  SERVER_CLOSE_MS,
  VIOLATION_CLOSE_MS,
} from "../limits.js";
import { forConnection, type ServerTelemetry, shortId } from "../server-telemetry.js";
import type { ProcessEvents } from "../session/managed-process.js";
import type { Session } from "../session/session.js";
import type { Holder, SessionTable } from "../session/session-table.js";
import type { Transport } from "../transport.js";
import { ByteBudget } from "./byte-budget.js";
import { Handshake } from "./handshake.js";
import { PacedChannel } from "./paced-channel.js";
import { PacedQueue } from "./paced-queue.js";
import type { SpecDefaults } from "./process-spec.js";
import { createRequests } from "./requests.js";
import { ResponseMemory } from "./response-memory.js";

export interface ConnectionContext {
  sessions: SessionTable;
  fileSystem: FileSystem;
  http: HttpClient;
  environment: HostEnvironment & CapabilityHost;
  defaults: SpecDefaults;
  /** Memory for the file responses of all connections. */
  responseBudget: ByteBudget;
  /** Memory for the bodies of HTTP responses of all connections. */
  bodyBudget: ByteBudget;
  telemetry: ServerTelemetry;
}

/** Protocol version of the first exec-servers; their clients require it, all others ignore it. */
const FIRST_PROTOCOL_VERSION = "exec-server.v0";

/** The connection of one client: handshake, requests and events. Owns the channel. */
export class Connection implements Holder {
  readonly #context: ConnectionContext;
  readonly #transport: Transport;
  readonly #channel: PacedChannel;
  readonly #peer: Peer;
  readonly #handshake: Handshake;
  readonly #log: Logger;
  readonly #ended = new AbortController();
  /** Reused buffers for output notifications. */
  readonly #messages = new ChunkMemory(MESSAGE_SLAB_BYTES);
  #session: Session | undefined;
  /** Whether the client requested extensions that Codex 0.169.0 does not have. */
  #isExtended = false;
  #unsentParseErrors = 0;
  /** Resolves when all resources of the connection are freed. Never rejects. */
  readonly closed: Promise<void>;

  constructor(channel: Channel, transport: Transport, context: ConnectionContext) {
    this.#context = context;
    this.#transport = transport;
    this.#log = forConnection(context.telemetry.log, transport);
    this.#channel = new PacedChannel(channel);
    this.#handshake = new Handshake((resumeSessionId) => this.#join(resumeSessionId));
    setMaxListeners(0, this.#ended.signal);
    const files = context.fileSystem.createConnectionFileSystem({
      onMissingChanged: (watchId) => void this.#peer.notify(NOTIFICATIONS.fsMissingChanged, { watchId }),
    });
    const http = context.http.createConnectionHttp({
      onBodyDelta: (delta) => this.#peer.sendEncoded(encodeBodyDelta(delta)),
    });
    const requests = createRequests({
      ...context,
      handshake: this.#handshake,
      reads: new PacedQueue(this.#channel, 1),
      fileQueue: new PacedQueue(
        this.#channel,
        MAX_FILE_CALLS,
        new ResponseMemory(this.#channel, {
          connection: new ByteBudget(MAX_RESPONSE_BYTES),
          total: context.responseBudget,
          totalWaitMs: BUDGET_WAIT_MS,
        }),
      ),
      bodyMemory: new ResponseMemory(this.#channel, {
        connection: new ByteBudget(MAX_RESPONSE_BYTES),
        total: context.bodyBudget,
      }),
      ended: this.#ended.signal,
      files,
      http,
    });
    requests.set(METHODS.initialize, this.#initialize);
    this.#peer = new Peer(this.#channel, {
      requests: context.telemetry.instrument(requests, this.#log),
      notifications: new Map([[NOTIFICATIONS.initialized, this.#initialized]]),
      unknownRequest: refuseMethod,
      onMalformed: (problem) => this.#answerMalformed(problem),
      onUnexpected: () => this.#violate("a message was not expected"),
      errorOf: (error) => toRpcError(error, this.#isExtended),
      limits: { maxHandledRequests: MAX_HANDLED_REQUESTS, drainMs: transport.kind === "websocket" ? 0 : DRAIN_MS },
    });
    this.closed = this.#end(async () => {
      http.dispose();
      await files.dispose();
    });
  }

  async isAlive(): Promise<boolean> {
    if (this.#ended.signal.aborted) return false;
    return (await this.#channel.isPeerAlive?.(LIVENESS_MS)) ?? this.#transport.kind !== "socket";
  }

  drop(reason: string): void {
    void this.#peer.close({ reason, deadlineMs: 0 });
  }

  /**
   * Ends the processes of the session while their events are delivered, and closes once the client seems to have everything, or
   * DRAIN_DELIVERY_MS after the grace. Never rejects.
   */
  async drain(graceMs: number): Promise<void> {
    const longest = graceMs + DRAIN_DELIVERY_MS;
    const deadline = performance.now() + longest;
    const work = Promise.resolve(this.#session?.drain(graceMs)).then(() => this.#untilQuiet());
    const late = new AbortController();
    await Promise.race([work, pause(longest, undefined, { ref: false, signal: late.signal }).catch(() => {})]);
    late.abort();
    await this.close(Math.max(SERVER_CLOSE_MS, deadline - performance.now()));
  }

  /** Resolves when the client has sent nothing for a while, such as a request for the rest of the output, or has gone. Never rejects. */
  async #untilQuiet(): Promise<void> {
    let { received } = this.#channel;
    for (let quiet = 0; quiet < DRAIN_QUIET_MS && !this.#ended.signal.aborted; quiet += DRAIN_POLL_MS) {
      await pause(DRAIN_POLL_MS);
      if (this.#channel.received !== received) quiet = 0;
      received = this.#channel.received;
    }
  }

  /** Stops answering requests. Resolves when all resources are freed; never rejects. */
  async close(deadlineMs: number): Promise<void> {
    await this.#peer.close({ reason: "the server is closing", deadlineMs });
    await this.closed;
  }

  readonly #initialize: RequestHandler = async (params) => {
    const { resumeSessionId, outcomes = false } = decodeInitialize(params);
    const session = await this.#handshake.initialize(resumeSessionId);
    session.reportsOutcomes = outcomes;
    this.#isExtended = outcomes;
    const { id } = session;
    this.#log.info?.("session attached", { session: shortId(id), resumed: resumeSessionId !== undefined });
    return {
      sessionId: id,
      environmentInfo: this.#context.environment.info,
      protocolVersion: FIRST_PROTOCOL_VERSION,
      // Extensions for clients of this project: a start with a sandbox is sandboxed or refused, there is `http/cancel`, and the patterns of a
      // network mean what they say, with ports and blocks of addresses.
      ...(outcomes ? { sandboxedProcess: true, httpCancel: true, networkPatterns: true } : {}),
    };
  };

  readonly #initialized = (): unknown =>
    this.#handshake.afterResume(() => {
      const session = this.#handshake.confirm();
      if (session === undefined) this.#violate("initialized was sent before initialize");
      else if (!this.#ended.signal.aborted) session.attach(this.#events);
    });

  readonly #events: ProcessEvents = {
    onOutput: (processId, seq, stream, bytes) => {
      const message = encodeProcessOutput(processId, seq, stream, bytes, this.#messages.allocate);
      return this.#peer.sendEncoded(message, () => this.#messages.release(message));
    },
    onExited: (processId, seq, { outcome, ...exit }) => {
      const extension = this.#session?.reportsOutcomes === true && outcome !== undefined ? { outcome } : {};
      return this.#peer.notify(NOTIFICATIONS.processExited, { processId, seq, ...exit, ...extension });
    },
    onClosed: (processId, seq) => this.#peer.notify(NOTIFICATIONS.processClosed, { processId, seq }),
    onNetworkDecision: (decision) => this.#peer.notify(NOTIFICATIONS.networkPolicyDecision, decision),
    askAboutNetwork: (request, signal) => this.#peer.request(NETWORK_POLICY_REQUEST, request, { signal }),
  };

  #join(resumeSessionId: string | undefined): Session | Promise<Session> {
    const { sessions } = this.#context;
    if (resumeSessionId === undefined) {
      this.#session = sessions.create(this);
      return this.#session;
    }
    return sessions.resume(resumeSessionId, this).then((session) => {
      if (this.#ended.signal.aborted) sessions.release(session, this);
      this.#session = session;
      return session;
    });
  }

  /** Answers a malformed message with an error; the connection continues. */
  #answerMalformed(problem: string): void {
    this.#context.telemetry.malformed.value += 1;
    // Before the handshake the client may be probing for the protocol.
    const level = this.#session === undefined ? "info" : "warn";
    this.#log[level]?.("message could not be read");
    if (this.#unsentParseErrors >= MAX_UNSENT_PARSE_ERRORS) {
      this.#violate(`${MAX_UNSENT_PARSE_ERRORS} error responses to malformed messages were not read`);
      return;
    }
    this.#unsentParseErrors += 1;
    const source =
      this.#transport.kind === "websocket"
        ? `websocket JSON-RPC message from exec-server websocket ${this.#transport.peer}`
        : "JSON-RPC message from exec-server stdio";
    const error = new RpcError(ERROR_CODES.invalidRequest, `failed to parse ${source}: ${problem}`);
    void this.#peer.sendError(-1, error).then(() => {
      this.#unsentParseErrors -= 1;
    });
  }

  #violate(reason: string): void {
    this.#log.warn?.("connection ended for a violation", { reason });
    // Codex ends such a connection abruptly; its client treats that as a disconnect and resumes.
    void this.#peer.close({ reason, deadlineMs: VIOLATION_CLOSE_MS, abrupt: true });
  }

  /** A resumable session is released immediately; any other ends after the last response is written. */
  async #end(dispose: () => Promise<void>): Promise<void> {
    const { kind } = await this.#peer.ended;
    this.#log.info?.("connection ended", { session: this.#session && shortId(this.#session.id), end: kind });
    this.#ended.abort();
    const { sessions } = this.#context;
    if (this.#session !== undefined && this.#transport.kind !== "stdio") sessions.release(this.#session, this);
    await this.#peer.closed;
    await dispose();
    if (this.#session !== undefined && this.#transport.kind === "stdio") await sessions.end(this.#session);
  }
}

const refuseMethod: RequestHandler = (_params, { method }) => {
  throw new RpcError(ERROR_CODES.methodNotFound, `exec-server stub does not implement \`${method}\` yet`);
};

/** Clients that asked for extensions also get the error as a code in `data`, so that they need not parse the message. */
function toRpcError(error: unknown, isExtended: boolean): RpcError {
  const message = messageOf(error);
  const code = error instanceof ProcessError ? ERROR_CODES.invalidRequest : ERROR_CODES.internal;
  const isNamed = error instanceof ProcessError || error instanceof StartError || error instanceof WriteError;
  return new RpcError(code, message, {
    cause: error,
    ...(isExtended && isNamed ? { data: { code: error.code } } : {}),
  });
}
