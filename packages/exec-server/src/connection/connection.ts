import { setMaxListeners } from "node:events";
import { type Channel, Peer, type RequestHandler, RpcError } from "@codex/channel";
import { ProcessError, StartError, WriteError } from "@codex/exec-backend";
import {
  decodeInitialize,
  ERROR_CODES,
  encodeBodyDelta,
  encodeProcessOutput,
  METHODS,
  NOTIFICATIONS,
} from "@codex/exec-server-protocol";
import type { FileSystem } from "@codex/host-files";
import { ChunkMemory } from "@codex/native";
import type { Logger } from "@codex/telemetry";
import type { HostEnvironment } from "../environment/methods.js";
import type { HttpClient } from "../http/http-client.js";
import {
  DRAIN_MS,
  LIVENESS_MS,
  MAX_ANSWERED_BYTES,
  MAX_FILE_CALLS,
  MAX_HANDLED_REQUESTS,
  MAX_UNSENT_COMPLAINTS,
  MESSAGE_SLAB_BYTES,
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
import { PacedLane } from "./paced-lane.js";
import type { SpecDefaults } from "./process-spec.js";
import { createRequests } from "./requests.js";

export interface ConnectionContext {
  sessions: SessionTable;
  fileSystem: FileSystem;
  http: HttpClient;
  environment: HostEnvironment;
  defaults: SpecDefaults;
  /** For the answers to all connections. */
  answered: ByteBudget;
  telemetry: ServerTelemetry;
}

/** Version of the protocol of the first exec-servers; their clients look for it, all others ignore it. */
const FIRST_PROTOCOL_VERSION = "exec-server.v0";

/** One client: its handshake, its requests, its events. Owns the channel. */
export class Connection implements Holder {
  readonly #context: ConnectionContext;
  readonly #transport: Transport;
  readonly #channel: PacedChannel;
  readonly #peer: Peer;
  readonly #handshake: Handshake;
  readonly #log: Logger;
  readonly #ended = new AbortController();
  /** For messages with much output. */
  readonly #messages = new ChunkMemory(MESSAGE_SLAB_BYTES);
  #session: Session | undefined;
  /** The client asked for what Codex 0.169.0 does not tell. */
  #tellsMore = false;
  #unsentComplaints = 0;
  /** Resolves when everything of the connection is over. Never rejects. */
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
      reads: new PacedLane(this.#channel, 1),
      fileLane: new PacedLane(this.#channel, MAX_FILE_CALLS, {
        own: new ByteBudget(MAX_ANSWERED_BYTES),
        all: context.answered,
      }),
      ended: this.#ended.signal,
      files,
      http,
    });
    requests.set(METHODS.initialize, this.#initialize);
    this.#peer = new Peer(this.#channel, {
      requests: context.telemetry.watch(requests, this.#log),
      notifications: new Map([[NOTIFICATIONS.initialized, this.#initialized]]),
      unknownRequest: refuseMethod,
      onMalformed: (problem) => this.#complain(problem),
      onUnexpected: () => this.#violate("a message was not expected"),
      errorOf: (error) => toRpcError(error, this.#tellsMore),
      limits: { maxHandledRequests: MAX_HANDLED_REQUESTS, drainMs: transport.kind === "stdio" ? DRAIN_MS : 0 },
    });
    this.closed = this.#end(async () => {
      http.dispose();
      await files.dispose();
    });
  }

  async isAlive(): Promise<boolean> {
    if (this.#ended.signal.aborted) return false;
    return (await this.#channel.isPeerAlive?.(LIVENESS_MS)) ?? true;
  }

  drop(reason: string): void {
    void this.#peer.close({ reason, deadlineMs: 0 });
  }

  /** Answers nothing more. Resolves when everything is over; never rejects. */
  async close(deadlineMs: number): Promise<void> {
    await this.#peer.close({ reason: "the server is closing", deadlineMs });
    await this.closed;
  }

  readonly #initialize: RequestHandler = async (params) => {
    const { resumeSessionId, outcomes = false } = decodeInitialize(params);
    const session = await this.#handshake.initialize(resumeSessionId);
    session.tellsOutcomes = outcomes;
    this.#tellsMore = outcomes;
    const { id } = session;
    this.#log.info?.("session attached", { session: shortId(id), resumed: resumeSessionId !== undefined });
    return {
      sessionId: id,
      environmentInfo: this.#context.environment.info,
      protocolVersion: FIRST_PROTOCOL_VERSION,
      // For clients of this project: a start with a sandbox is held by it, or refused.
      ...(outcomes ? { sandboxedProcess: true } : {}),
    };
  };

  readonly #initialized = (): unknown =>
    this.#handshake.inTurn(() => {
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
      const told = this.#session?.tellsOutcomes === true && outcome !== undefined ? { outcome } : {};
      return this.#peer.notify(NOTIFICATIONS.processExited, { processId, seq, ...exit, ...told });
    },
    onClosed: (processId, seq) => this.#peer.notify(NOTIFICATIONS.processClosed, { processId, seq }),
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

  /** A message that cannot be read is answered, and the connection goes on. */
  #complain(problem: string): void {
    this.#context.telemetry.malformed.value += 1;
    // Before there is a session, a client may be finding out which protocol is spoken here.
    const level = this.#session === undefined ? "info" : "warn";
    this.#log[level]?.("message could not be read");
    if (this.#unsentComplaints >= MAX_UNSENT_COMPLAINTS) {
      this.#violate(`${MAX_UNSENT_COMPLAINTS} answers to malformed messages were not read`);
      return;
    }
    this.#unsentComplaints += 1;
    const source =
      this.#transport.kind === "stdio"
        ? "JSON-RPC message from exec-server stdio"
        : `websocket JSON-RPC message from exec-server websocket ${this.#transport.peer}`;
    const error = new RpcError(ERROR_CODES.invalidRequest, `failed to parse ${source}: ${problem}`);
    void this.#peer.sendError(-1, error).then(() => {
      this.#unsentComplaints -= 1;
    });
  }

  #violate(reason: string): void {
    this.#log.warn?.("connection ended for a violation", { reason });
    // As Codex ends such a connection: its client takes that for a cut, and comes back.
    void this.#peer.close({ reason, deadlineMs: VIOLATION_CLOSE_MS, abrupt: true });
  }

  /** A session that can be resumed is free at once; one that cannot ends when the last answer is written. */
  async #end(dispose: () => Promise<void>): Promise<void> {
    const { kind } = await this.#peer.ended;
    this.#log.info?.("connection ended", { session: this.#session && shortId(this.#session.id), end: kind });
    this.#ended.abort();
    const { sessions } = this.#context;
    if (this.#session !== undefined && this.#transport.kind === "websocket") sessions.release(this.#session, this);
    await this.#peer.closed;
    await dispose();
    if (this.#session !== undefined && this.#transport.kind === "stdio") await sessions.end(this.#session);
  }
}

const refuseMethod: RequestHandler = (_params, { method }) => {
  throw new RpcError(ERROR_CODES.methodNotFound, `exec-server stub does not implement \`${method}\` yet`);
};

/** To a client that wants more than Codex 0.169.0 tells, what went wrong is told by a word as well: no sentence has to be read. */
function toRpcError(error: unknown, tellsMore: boolean): RpcError {
  const message = error instanceof Error ? error.message : String(error);
  const code = error instanceof ProcessError ? ERROR_CODES.invalidRequest : ERROR_CODES.internal;
  const isNamed = error instanceof ProcessError || error instanceof StartError || error instanceof WriteError;
  return new RpcError(code, message, { cause: error, ...(tellsMore && isNamed ? { data: { code: error.code } } : {}) });
}
