import { type Channel, createMemoryChannelPair } from "@codex/channel";
import { connectWebSocketChannel } from "@codex/channel/websocket";
import type { ExecBackend } from "@codex/exec-backend";
import { createLocalBackend } from "@codex/process-host";
import { afterEach } from "vitest";
import {
  createEnvironmentInfo,
  createExecServer,
  type ExecServer,
  type ExecServerOptions,
  type ListenWebSocketOptions,
  listenWebSocket,
} from "../src/index.js";
import { createRelay } from "./relay.js";

export type Message = Record<string, unknown>;
export interface Answer {
  id: unknown;
  result?: unknown;
  error?: { code: number; message: string };
}

export const PATH = process.env.PATH ?? "/usr/bin:/bin";

/** A scripted client that keeps what it receives. */
export class RawClient {
  readonly channel: Channel;
  /** In the order of arrival. */
  readonly received: Message[] = [];
  readonly #wakers = new Set<() => void>();
  #nextId = 1;
  ended = false;
  readonly finished: Promise<void>;
  /** False keeps what arrives on the wire. */
  reading = true;

  constructor(channel: Channel, { read = true } = {}) {
    this.channel = channel;
    this.finished = read ? this.#read() : Promise.resolve();
  }

  async #read(): Promise<void> {
    for (let next = await this.channel.receive(); next !== undefined; next = await this.channel.receive()) {
      if (next.kind === "value") this.received.push(next.value as Message);
      this.#wake();
    }
    this.ended = true;
    this.#wake();
  }

  #wake(): void {
    for (const waker of [...this.#wakers]) waker();
  }

  send(message: Message): void {
    void this.channel.send(message).catch(() => {});
  }

  /** The first message that arrived, or arrives, for which `test` holds. */
  async until(test: (message: Message) => boolean): Promise<Message> {
    for (let at = 0; ; ) {
      for (; at < this.received.length; at += 1) if (test(this.received[at]!)) return this.received[at]!;
      if (this.ended) throw new Error(`the connection ended; received ${JSON.stringify(this.received).slice(0, 2000)}`);
      await new Promise<void>((resolve) => {
        const waker = () => {
          this.#wakers.delete(waker);
          resolve();
        };
        this.#wakers.add(waker);
      });
    }
  }

  async request(method: string, params?: unknown): Promise<Answer> {
    const id = this.#nextId++;
    this.send({ id, method, ...(params === undefined ? {} : { params }) });
    return (await this.until((message) => message.id === id && !("method" in message))) as unknown as Answer;
  }

  /** The result of a request that must succeed. */
  async ask<Result = Message>(method: string, params?: unknown): Promise<Result> {
    const { result, error } = await this.request(method, params);
    if (error !== undefined) throw new Error(`${method}: ${error.code} ${error.message}`);
    return result as Result;
  }

  /** `CODE TEXT` of a request that must fail. */
  async refusal(method: string, params?: unknown): Promise<string> {
    const { result, error } = await this.request(method, params);
    if (error === undefined) throw new Error(`${method} succeeded: ${JSON.stringify(result)}`);
    return `${error.code} ${error.message}`;
  }

  async handshake(resumeSessionId?: string, more: Message = {}): Promise<string> {
    const params = { clientName: "test", ...more, ...(resumeSessionId === undefined ? {} : { resumeSessionId }) };
    const { sessionId } = await this.ask<{ sessionId: string }>("initialize", params);
    this.send({ method: "initialized", params: {} });
    return sessionId;
  }

  start(processId: string, argv: string[], more: Message = {}): Promise<Message> {
    return this.ask("process/start", startParams(processId, argv, more));
  }

  untilEvent(method: string, processId: string): Promise<Message> {
    return this.until((message) => message.method === method && paramsOf(message).processId === processId);
  }

  /** Notifications of a process in the order they arrived. */
  eventsOf(processId: string): Message[] {
    return this.received.filter((message) => "method" in message && paramsOf(message).processId === processId);
  }

  outputOf(processId: string): string {
    return Buffer.concat(
      this.eventsOf(processId)
        .filter(({ method }) => method === "process/output")
        .map((message) => Buffer.from(paramsOf(message).chunk as string, "base64")),
    ).toString();
  }

  close(): Promise<void> {
    return this.channel.close({ deadlineMs: 1000 });
  }
}

export const paramsOf = (message: Message): Message => (message.params ?? {}) as Message;

export const startParams = (processId: string, argv: string[], more: Message = {}): Message => ({
  processId,
  argv,
  cwd: "file:///tmp",
  env: { PATH },
  tty: false,
  ...more,
});

/** A server whose processes and connections are ended after each test. */
export function useServer(options: Partial<ExecServerOptions> = {}) {
  let running: { server: ExecServer; backend: ExecBackend } | undefined;
  const closers: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
    await running?.server.close();
    await running?.backend.close();
    running = undefined;
  });
  const get = async () => {
    if (running === undefined) {
      const environment = { info: await createEnvironmentInfo({ executorVersion: "0.169.0" }) };
      const backend = options.backend ?? createLocalBackend();
      running ??= { server: createExecServer({ environment, ...options, backend }), backend };
    }
    return running.server;
  };
  return {
    get,
    /** Runs after the test, the last one first. */
    defer: (close: () => Promise<unknown>) => void closers.push(close),
    /** A client on a memory channel that the server takes for a websocket. */
    async connect(transport: "websocket" | "stdio" = "websocket") {
      const server = await get();
      const [near, far] = createMemoryChannelPair();
      const served = server.serve(far, {
        transport: transport === "stdio" ? { kind: "stdio" } : { kind: "websocket", peer: "192.0.2.1:5" },
      });
      const client = new RawClient(near);
      closers.push(() => client.close());
      return Object.assign(client, { served });
    },
    async ready(more?: Message) {
      const client = await this.connect();
      await client.handshake(undefined, more);
      return client;
    },
    /** Listens on a websocket address, behind a network that can be cut. */
    async listen(listenOptions: Partial<ListenWebSocketOptions> = {}) {
      const listener = await listenWebSocket(await get(), { host: "127.0.0.1", port: 0, ...listenOptions });
      closers.push(() => listener.close());
      const relay = await createRelay(listener.url);
      closers.push(() => relay.close());
      const dial = async ({ read = true } = {}) => {
        const channel = await connectWebSocketChannel(relay.url);
        closers.push(() => channel.close({ deadlineMs: 0 }));
        return new RawClient(channel, { read });
      };
      return { url: listener.url, relay, dial };
    },
  };
}
