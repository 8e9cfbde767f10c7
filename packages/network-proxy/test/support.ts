import { createServer as createHttpServer, type RequestListener } from "node:http";
import { connect, createServer, type Server, type Socket } from "node:net";
import { compileNetworkPolicy, type NetworkPolicy, type NetworkRule, parseAddress } from "@codex/network-policy";
import { onTestFinished } from "vitest";
import { type NetworkEvent, NetworkProxy, type NetworkProxyOptions } from "../src/index.js";

/** Names of the tests, which are loopback addresses of this host, opened by a rule for the block. */
const WORLD: Readonly<Record<string, readonly string[]>> = {
  "pub.example": ["127.0.1.1"],
  "other.example": ["127.0.1.1"],
  "evil.example": ["127.0.1.1"],
  "priv.example": ["10.1.2.3"],
  "two.example": ["127.0.1.9", "127.0.1.1"],
};

export interface Setup extends Partial<NetworkProxyOptions> {
  domains: Record<string, NetworkRule["decision"]>;
  mode?: NetworkPolicy["mode"];
}

/** A proxy on a port of loopback, and the events that it reported. */
export async function startProxy({ domains, mode = "full", ...options }: Setup) {
  const rules = Object.entries(domains).map(([pattern, decision]): NetworkRule => ({ pattern, decision }));
  const local: NetworkRule = { pattern: "127.0.1.0/24", decision: "allow" };
  const events: NetworkEvent[] = [];
  const proxy = new NetworkProxy({
    policy: compileNetworkPolicy({ rules: [...rules, local], mode, allowLocalBinding: false }),
    lookup: async (name) => {
      const found = WORLD[name];
      if (found === undefined) throw new Error(`${name} does not exist`);
      return found.map((text) => parseAddress(text)!);
    },
    onEvent: (event) => events.push(event),
    ...options,
  });
  const server = createServer({ allowHalfOpen: true });
  proxy.serveProxy(server, (socket) => socket.localAddress ?? "");
  const port = await listen(server, "127.0.0.1");
  onTestFinished(() => proxy.close());
  return { proxy, port, events, connect: () => open(port) };
}

/** Listens, and closes with its connections at the end of the test. */
export async function listen(server: Server, host: string, port = 0): Promise<number> {
  const open = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    open.add(socket);
    socket.on("error", () => undefined);
    socket.once("close", () => open.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(port, host, resolve));
  onTestFinished(() => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  return (server.address() as { port: number }).port; // a TCP server
}

/** A web server that `pub.example` and others of the world lead to. */
export function startWeb(listener: RequestListener = answer): Promise<number> {
  return listen(createHttpServer(listener), "127.0.1.1");
}

const answer: RequestListener = (request, response) => {
  response.end(`${request.method} ${request.url} at ${request.headers.host}`);
};

/** A TCP server that `pub.example` leads to. */
export function startTcp(handle: (socket: Socket) => void): Promise<number> {
  return listen(createServer({ allowHalfOpen: true }, handle), "127.0.1.1");
}

export const echo = (socket: Socket): void => {
  socket.pipe(socket);
};

/** A client connection, with what it has received. */
export class Client {
  readonly socket: Socket;
  #received = Buffer.alloc(0);
  #isEnded = false;
  #wake: () => void = () => undefined;

  constructor(socket: Socket) {
    this.socket = socket;
    socket.on("data", (chunk) => {
      this.#received = Buffer.concat([this.#received, chunk]);
      this.#wake();
    });
    for (const event of ["end", "close", "error"]) {
      socket.on(event, () => {
        this.#isEnded = true;
        this.#wake();
      });
    }
  }

  get received(): Buffer {
    return this.#received;
  }

  /** Sends text as its characters' lower bytes. */
  send(text: string | Buffer): this {
    this.socket.write(text, "latin1");
    return this;
  }

  end(): this {
    this.socket.end();
    return this;
  }

  /** All that was received, once it has `bytes` bytes or contains a text; what came so far if the other end ends first. */
  async receive(wanted: number | string): Promise<string> {
    const isThere = () =>
      typeof wanted === "number" ? this.#received.length >= wanted : this.#received.includes(wanted, 0, "latin1");
    while (!isThere() && !this.#isEnded) await new Promise<void>((resolve) => (this.#wake = resolve));
    return this.#received.toString("latin1");
  }

  /** All that was received, once the other end has ended. */
  async receiveAll(): Promise<string> {
    while (!this.#isEnded) await new Promise<void>((resolve) => (this.#wake = resolve));
    return this.#received.toString("latin1");
  }
}

export async function open(port: number, host = "127.0.0.1"): Promise<Client> {
  const socket = connect({ port, host, allowHalfOpen: true, noDelay: true });
  onTestFinished(() => void socket.destroy());
  await new Promise<void>((resolve, reject) => socket.once("connect", resolve).once("error", reject));
  return new Client(socket);
}
