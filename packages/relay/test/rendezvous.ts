// A registry and a rendezvous of the fewest lines that Codex works with: one node, no authentication, frames forwarded.
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { type WebSocket, WebSocketServer } from "ws";
import { encodeFrame, readFrameHead } from "../src/index.js";

/** What becomes of a frame on its way: the frames that are sent on instead of it. */
type Meddle = (frame: Buffer, from: "executor" | "harness") => Buffer[] | Promise<Buffer[]>;

export interface TestRendezvous {
  /** Base URL of the registry. */
  url: string;
  /** Requests so far: method of the registry, headers, body. */
  requests: { method: string; headers: IncomingMessage["headers"]; body: Record<string, unknown> }[];
  /** Replace to change frames. */
  meddle: Meddle;
  /** Replace to answer a request of the registry with a status of its own. */
  refuse: (method: string) => { status: number; headers?: Record<string, string> } | undefined;
  /** Replace to change a successful answer of the registry. */
  changeAnswer: (method: string, answer: Record<string, unknown>) => Record<string, unknown>;
  /** Cuts all sockets of that side. */
  cut(side: "executor" | "harness"): void;
  executorCount: number;
  /** Of the executor that registered last. */
  readonly registrationId: string;
  /** Puts a message of one's own before the executor. */
  toExecutor(message: Uint8Array | string): void;
  /** The next dial of the executor is refused with 409. */
  forget(): void;
  /** Resolves while an executor is there. */
  connected(): Promise<void>;
  close(): Promise<void>;
}

export async function startRendezvous(): Promise<TestRendezvous> {
  const server = createServer();
  let isForgotten = false;
  const verifyClient = ({ req }: { req: IncomingMessage }, done: (ok: boolean, status?: number) => void) => {
    const refused = isForgotten && req.url?.startsWith("/executor") === true;
    if (refused) isForgotten = false;
    done(!refused, 409);
  };
  const sockets = new WebSocketServer({ server, maxPayload: 256 * 1024, verifyClient });
  const sides = { executor: new Set<WebSocket>(), harness: new Set<WebSocket>() };
  const harnesses = new Map<string, WebSocket>();
  let registered: { id: string; key: unknown; grant: string } | undefined;
  let executor: WebSocket | undefined;
  const rendezvous: TestRendezvous = {
    url: "",
    requests: [],
    meddle: (frame) => [frame],
    refuse: () => undefined,
    changeAnswer: (_method, answer) => answer,
    executorCount: 0,
    get registrationId() {
      return registered?.id ?? "";
    },
    toExecutor: (message) => executor?.send(message),
    forget: () => {
      isForgotten = true;
    },
    async connected() {
      while (executor === undefined) await once(sockets, "connection");
    },
    cut: (side) => {
      for (const socket of sides[side]) socket.terminate();
    },
    async close() {
      for (const socket of [...sides.executor, ...sides.harness]) socket.terminate();
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
  server.on("request", async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    const body = (text === "" ? {} : JSON.parse(text)) as Record<string, unknown>;
    const [, environment = "", method = ""] = /^\/cloud\/environment\/([^/]+)\/(.+)$/.exec(request.url ?? "") ?? [];
    rendezvous.requests.push({ method, headers: request.headers, body });
    const reply = (status: number, content: Record<string, unknown>, headers = {}) => {
      const answer = status === 200 ? rendezvous.changeAnswer(method, content) : content;
      response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(answer));
    };
    const refusal = rendezvous.refuse(method);
    if (refusal !== undefined)
      return reply(refusal.status, { error: { code: "refused", message: "as told" } }, refusal.headers);
    const ws = rendezvous.url.replace("http:", "ws:");
    const common = { environment_id: environment, security_profile: "noise_hybrid_ik_v1" };
    if (method === "register") {
      registered = {
        id: `reg_${randomBytes(8).toString("hex")}`,
        key: body.executor_public_key,
        grant: randomBytes(8).toString("hex"),
      };
      const url = `${ws}/executor?grant=${registered.grant}`;
      return reply(200, { ...common, url, executor_registration_id: registered.id });
    }
    if (method === "validate") return reply(200, { valid: body.harness_key_authorization === "let me in" });
    if (method !== "connect") return reply(404, {});
    if (registered === undefined || executor === undefined) return reply(503, {});
    return reply(200, {
      ...common,
      url: `${ws}/harness`,
      executor_registration_id: registered.id,
      executor_public_key: registered.key,
      harness_key_authorization: "let me in",
    });
  });
  sockets.on("connection", (socket, request) => {
    const side = request.url?.startsWith("/executor") === true ? "executor" : "harness";
    sides[side].add(socket);
    const streams = new Set<string>();
    if (side === "executor") {
      executor = socket;
      rendezvous.executorCount += 1;
    }
    let order = Promise.resolve();
    socket.on("message", (data) => {
      const frame = data as Buffer;
      order = order.then(async () => {
        const head = readFrameHead(frame);
        if (head === undefined) return;
        if (side === "harness") {
          streams.add(head.streamId);
          harnesses.set(head.streamId, socket);
        }
        const to = side === "harness" ? executor : harnesses.get(head.streamId);
        for (const each of await rendezvous.meddle(frame, side)) to?.send(each);
      });
    });
    socket.on("error", () => {});
    socket.on("close", () => {
      sides[side].delete(socket);
      if (executor === socket) {
        executor = undefined;
        for (const harness of sides.harness) harness.terminate();
      }
      for (const streamId of streams) {
        harnesses.delete(streamId);
        executor?.send(encodeFrame({ streamId, body: { kind: "reset", reason: "the harness is gone" } }));
      }
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  rendezvous.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return rendezvous;
}
