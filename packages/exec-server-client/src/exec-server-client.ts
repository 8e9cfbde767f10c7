import { randomUUID } from "node:crypto";
import { type Channel, createStdioChannel, type StdioStreams } from "@codex/channel";
import { type Clock, waitAtMost } from "@codex/clock";
import { METHODS } from "@codex/exec-server-protocol";
import type { TraceContext } from "@codex/telemetry";
import { defined } from "@codex/values";
import type { ServerInfo } from "./connection/connection.js";
import {
  type Connector,
  createFixedConnector,
  createWebSocketConnector,
  type WebSocketTarget,
} from "./connection/connector.js";
import { type ListedProcess, listResponse, parseResponse, startResponse } from "./connection/responses.js";
import { endChild, type ServerCommand, spawnServer } from "./connection/spawn-server.js";
import { ClientError } from "./errors.js";
import type { EventSink, ProcessChannel } from "./events/process-channel.js";
import { CLOSE_DEADLINE_MS } from "./limits.js";
import { RemoteEnvironment } from "./remote/remote-environment.js";
import { RemoteFileSystem } from "./remote/remote-file-system.js";
import { RemoteHttp } from "./remote/remote-http.js";
import { RunningProcess } from "./remote/running-process.js";
import { type CallOptions, Calls } from "./session/calls.js";
import type { ClientSession, NetworkListener } from "./session/client-session.js";
import { type LinkOptions, SessionLink } from "./session/session-link.js";

/** Params of `process/start`, apart from those the client sets itself; see section 4.1 of the protocol. */
export interface StartRequest {
  /** Chosen by the caller, unique in this session. */
  processId: string;
  argv: readonly string[];
  /** `file:` URI. */
  cwd: string;
  env: Readonly<Record<string, string>>;
  tty: boolean;
  pipeStdin?: boolean;
  arg0?: string | null;
  /** Further members, such as `envPolicy`, `sandbox`, `metadata`, `rows` and `cols`. */
  readonly [member: string]: unknown;
}

/**
 * A client of an exec-server: Codex 0.169.0 or one of this project. Over a websocket it survives disconnects: it resumes
 * its session, reads the missed events, and fails only calls that cannot be recovered.
 */
export class ExecServerClient {
  readonly #link: SessionLink;
  readonly #calls: Calls;
  readonly fileSystem: RemoteFileSystem;
  readonly http: RemoteHttp;
  readonly environment: RemoteEnvironment;
  #closing: Promise<void> | undefined;

  /**
   * Connects and does the handshake.
   * @throws ChannelError (no connection), RpcError (refused), ClientError `initialize_timeout` or `invalid_response`
   */
  static async connect(connector: Connector, options: LinkOptions = {}): Promise<ExecServerClient> {
    const link = new SessionLink(connector, options);
    try {
      await link.ready();
    } catch (error) {
      await link.close();
      throw error;
    }
    return new ExecServerClient(link);
  }

  static connectWebSocket(url: string, options: LinkOptions & WebSocketTarget = {}): Promise<ExecServerClient> {
    return ExecServerClient.connect(createWebSocketConnector(url, options), options);
  }

  /** Owns both streams. Such a server ends with its input: when that is cut, everything is lost. */
  static connectStdio(streams: StdioStreams, options: LinkOptions = {}): Promise<ExecServerClient> {
    return ExecServerClient.connectInProcess(createStdioChannel({ skipsLeadingText: true, ...streams }), options);
  }

  /** Owns the channel. */
  static connectInProcess(channel: Channel, options: LinkOptions = {}): Promise<ExecServerClient> {
    return ExecServerClient.connect(createFixedConnector(channel), options);
  }

  /** Starts a server that communicates over its stdin and stdout, and owns it: `close` ends it. */
  static async spawnLocal(command: ServerCommand, options: LinkOptions = {}): Promise<ExecServerClient> {
    const child = await spawnServer(command);
    const channel = createStdioChannel({ input: child.stdout, output: child.stdin, skipsLeadingText: true });
    return ExecServerClient.connect(
      createFixedConnector(channel, () => endChild(child)),
      options,
    );
  }

  private constructor(link: SessionLink) {
    this.#link = link;
    this.#calls = new Calls(link);
    this.fileSystem = new RemoteFileSystem(this.#calls);
    this.http = new RemoteHttp(this.#calls);
    this.environment = new RemoteEnvironment(this.#calls, () => this.environmentInfo);
  }

  /** Session of the current connection; undefined while there is none. */
  get sessionId(): string | undefined {
    return this.#link.attached?.session.id;
  }

  /** The result of `environment/info` as sent in the handshake; undefined while there is no connection. */
  get environmentInfo(): unknown {
    return this.serverInfo?.environmentInfo;
  }

  /** Everything the server reported in the handshake; undefined while there is no connection. */
  get serverInfo(): ServerInfo | undefined {
    return this.#link.attached?.connection.serverInfo;
  }

  /** The server in errors. */
  get serverName(): string {
    return this.#link.serverName;
  }

  /** The clock of its timeouts. */
  get clock(): Clock {
    return this.#link.clock;
  }

  /**
   * Sends any request. Rejects with RpcError (the response of the server), ClientError `connection_lost` (whether the server
   * received the request is unknown), `session_lost` or `closed`, ChannelError if it could not be sent, or the reason of `signal`.
   */
  call(method: string, params: unknown, options: CallOptions = {}): Promise<unknown> {
    return this.#calls.call(method, params, options);
  }

  /**
   * Starts a process; `onEvent` may be called before it resolves. If the response is lost it rejects with
   * `connection_lost`; the request is not repeated, and a process it may have started is terminated after the resume.
   * `onSend` is called right before the request is sent; an exception prevents that. `unsent` ends the wait for a connection. `network` is asked and told
   * about a network that `request` has.
   */
  async start(
    request: StartRequest,
    onEvent: EventSink,
    trace?: TraceContext,
    onSend?: (server: ServerInfo) => void,
    unsent?: AbortSignal,
    network?: NetworkListener,
  ): Promise<RunningProcess> {
    const { processId } = request;
    const params = { pipeStdin: false, arg0: null, envPolicy: null, sandbox: null, ...request };
    let started: { session: ClientSession; channel: ProcessChannel } | undefined;
    try {
      const response = await this.#calls.call(METHODS.processStart, params, {
        trace,
        ...defined({ unsent }),
        onSend({ session, connection }) {
          onSend?.(connection.serverInfo);
          started = { session, channel: session.register(processId, onEvent, network) };
          session.addOrphan(processId);
        },
      });
      const { sandboxType } = parseResponse(startResponse, response, METHODS.processStart);
      started!.session.deleteOrphan(processId);
      return new RunningProcess(sandboxType ?? undefined, this.#calls, started!);
    } catch (error) {
      if (started !== undefined) {
        started.session.unregister(started.channel);
        await this.#endUnknown(processId, started.session, error);
      }
      throw error;
    }
  }

  /** Terminates the process that a failed start may have started. */
  async #endUnknown(processId: string, session: ClientSession, error: unknown): Promise<void> {
    const code = error instanceof ClientError ? error.code : undefined;
    // Terminated after the resume.
    if (code === "connection_lost") return;
    session.deleteOrphan(processId);
    if (code !== "invalid_response") return;
    const options = { session, idempotent: true, unbounded: true };
    await this.#calls.call(METHODS.processTerminate, { processId }, options).catch(() => {}); // it ends with the session
  }

  /**
   * The processes of the session, ended ones that are still readable included.
   * @throws RpcError -32601 from Codex 0.169.0, which has no such method
   */
  async list(): Promise<ListedProcess[]> {
    const response = await this.#calls.call(METHODS.processList, null, { idempotent: true });
    return parseResponse(listResponse, response, METHODS.processList).processes;
  }

  /** A process of the session that another client has started; its output is read with `read`. @throws ClientError without a connection */
  adopt(processId: string): RunningProcess {
    const { attached } = this.#link;
    if (attached === undefined) throw new ClientError("connection_lost", "there is no connection");
    const { session } = attached;
    const channel = session.register(processId, () => {});
    return new RunningProcess(undefined, this.#calls, { session, channel }, `${randomUUID()} `);
  }

  /** Closes the connection, and leaves the processes: the server keeps them for a while, and `resumeSessionId` takes them up. Never rejects. */
  leave(): Promise<void> {
    this.#closing ??= Promise.all([this.#calls.close(), this.#link.close()]).then(() => {});
    return this.#closing;
  }

  /**
   * Terminates the processes, closes the connection and ends a server that it owns. Waits briefly for a pending recovery,
   * since processes could not be terminated otherwise. Idempotent; never rejects.
   */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** `close`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    await this.#link.settle(CLOSE_DEADLINE_MS);
    const { attached, clock } = this.#link;
    if (attached !== undefined) {
      const { session } = attached;
      const live = session.live;
      for (const { id: processId } of live) {
        const options = { session, idempotent: true, unbounded: true };
        this.#calls.call(METHODS.processTerminate, { processId }, options).catch(() => {}); // the session ends anyway
      }
      const ended = Promise.all(live.map((channel) => channel.ended));
      if (live.length > 0) await waitAtMost(clock, CLOSE_DEADLINE_MS, ended);
    }
    await Promise.all([this.#calls.close(), this.#link.close()]);
  }
}
