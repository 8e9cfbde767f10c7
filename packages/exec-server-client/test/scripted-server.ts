import { type Channel, createMemoryChannelPair } from "@codex/channel";
import type { Clock } from "@codex/clock";
import { afterEach } from "vitest";
import type { Connector } from "../src/connection/connector.js";
import type { ProcessEvent } from "../src/events/process-event.js";
import type { ExecServerClient } from "../src/exec-server-client.js";

/** A message of the client as the script sees it. */
export interface ReceivedRequest {
  id?: number;
  method: string;
  params: Record<string, unknown>;
}

/** The server's end of one connection; the test plays the server. */
export class ScriptedConnection {
  readonly #channel: Channel;

  constructor(channel: Channel) {
    this.#channel = channel;
  }

  /** The next message, which must be of this method. */
  async take(method: string): Promise<ReceivedRequest> {
    const received = await this.#channel.receive();
    if (received?.kind !== "value") throw new Error(`the connection ended before ${method}`);
    // Whatever it is, the next lines say what is wrong with it.
    const request = received.value as ReceivedRequest;
    if (request.method !== method) throw new Error(`expected ${method}, got ${JSON.stringify(request)}`);
    return request;
  }

  async respond(request: ReceivedRequest, result: unknown): Promise<void> {
    await this.#channel.send({ id: request.id, result });
  }

  async refuse(request: ReceivedRequest, code: number, message: string, data?: unknown): Promise<void> {
    await this.#channel.send({ id: request.id, error: { code, message, ...(data === undefined ? {} : { data }) } });
  }

  async notify(method: string, params: unknown): Promise<void> {
    await this.#channel.send({ method, params });
  }

  output(processId: string, seq: number, text: string, stream = "stdout"): Promise<void> {
    return this.notify("process/output", { processId, seq, stream, chunk: Buffer.from(text).toString("base64") });
  }

  exited(processId: string, seq: number, exitCode: number): Promise<void> {
    return this.notify("process/exited", { processId, seq, exitCode, sandboxDenied: false });
  }

  closed(processId: string, seq: number): Promise<void> {
    return this.notify("process/closed", { processId, seq });
  }

  /** Takes the handshake and answers it. */
  async shakeHands(sessionId: string, info: object = {}): Promise<ReceivedRequest> {
    const request = await this.take("initialize");
    const environmentInfo = { shell: { name: "sh", path: "/bin/sh" } };
    await this.respond(request, { sessionId, environmentInfo, ...info });
    await this.take("initialized");
    return request;
  }

  /** Takes a start and answers it. */
  async start(): Promise<string> {
    const request = await this.take("process/start");
    const processId = String(request.params.processId);
    await this.respond(request, { processId, sandboxType: "none" });
    return processId;
  }

  /** Takes a `process/read` and answers it with chunks `[seq, text]`. */
  async read(chunks: [number, string][], state: Record<string, unknown>): Promise<ReceivedRequest> {
    const request = await this.take("process/read");
    const encoded = chunks.map(([seq, text]) => ({
      seq,
      stream: "stdout",
      chunk: Buffer.from(text).toString("base64"),
    }));
    const rest = { exited: false, exitCode: null, closed: false, failure: null, sandboxDenied: false };
    await this.respond(request, { ...rest, chunks: encoded, ...state });
    return request;
  }

  cut(): Promise<void> {
    return this.#channel.close();
  }
}

/** A place that can be connected to again and again; each connection is handed to the test. */
export class ScriptedServer implements Connector {
  readonly canReopen: boolean;
  readonly #connections: ScriptedConnection[] = [];
  readonly #waiting: ((connection: ScriptedConnection) => void)[] = [];
  /** Attempts that are refused before one is let in. */
  refusals = 0;
  attempts = 0;

  constructor(canReopen = true) {
    this.canReopen = canReopen;
  }

  async open(): Promise<Channel> {
    this.attempts += 1;
    if (this.refusals > 0) {
      this.refusals -= 1;
      throw new Error("connection refused");
    }
    const [ours, theirs] = createMemoryChannelPair();
    const connection = new ScriptedConnection(theirs);
    const waiting = this.#waiting.shift();
    if (waiting === undefined) this.#connections.push(connection);
    else waiting(connection);
    return ours;
  }

  accept(): Promise<ScriptedConnection> {
    const connection = this.#connections.shift();
    if (connection !== undefined) return Promise.resolve(connection);
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}

/** A clock that stands still until the test moves it. */
export class ScriptedClock implements Clock {
  /** Milliseconds of every timer that was set. */
  readonly timers: number[] = [];
  readonly #pending = new Set<{ at: number; run: () => void }>();
  #time = 0;
  #released = false;

  now(): number {
    return this.#time;
  }

  after(ms: number, run: () => void): () => void {
    this.timers.push(ms);
    const timer = { at: this.#time + ms, run };
    this.#pending.add(timer);
    if (this.#released) queueMicrotask(() => this.#fire(timer));
    return () => void this.#pending.delete(timer);
  }

  /** From now on every timer fires at once. */
  release(): void {
    this.#released = true;
    this.pass(Number.MAX_SAFE_INTEGER);
  }

  /** Runs the timers that are set and due by then. */
  pass(ms: number): void {
    this.#time += ms;
    for (const timer of [...this.#pending]) if (timer.at <= this.#time) this.#fire(timer);
  }

  #fire(timer: { at: number; run: () => void }): void {
    if (this.#pending.delete(timer)) timer.run();
  }
}

/** Takes events and lets the test wait for one. */
export class Recorder {
  readonly events: ProcessEvent[] = [];
  readonly #waiting: { kind: string; resolve: () => void }[] = [];

  readonly take = (event: ProcessEvent): void => {
    this.events.push(event);
    for (const waiting of [...this.#waiting]) {
      if (waiting.kind === event.kind) waiting.resolve();
    }
  };

  /** Resolves when an event of the kind was taken. */
  until(kind: ProcessEvent["kind"]): Promise<void> {
    if (this.events.some((event) => event.kind === kind)) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push({ kind, resolve }));
  }

  /** In short: text of output, else what happened. */
  get entries(): (string | number)[] {
    return this.events.map((event) => {
      if (event.kind === "output") return event.bytes.toString();
      if (event.kind === "exited") return `exited ${event.exitCode}`;
      if (event.kind === "gap") return `gap of ${event.chunks}`;
      return event.kind === "failed" ? `failed ${event.error.code}` : event.kind;
    });
  }
}

/** Clients that are closed after each test; their clocks are released first. */
export function useClients(): (client: Promise<ExecServerClient>, clock?: ScriptedClock) => Promise<ExecServerClient> {
  const clients: ExecServerClient[] = [];
  const clocks: ScriptedClock[] = [];
  afterEach(async () => {
    for (const clock of clocks.splice(0)) clock.release();
    await Promise.all(clients.splice(0).map((client) => client.close()));
  });
  return async (connecting, clock) => {
    if (clock !== undefined) clocks.push(clock);
    const client = await connecting;
    clients.push(client);
    return client;
  };
}

export const START = { argv: ["sh"], cwd: "file:///tmp", env: {}, tty: false } as const;
