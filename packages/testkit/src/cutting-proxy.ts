import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A TCP proxy in front of a websocket server; the test breaks its connections. */
export interface CuttingProxy {
  readonly url: string;
  /** Connections so far. */
  readonly connections: number;
  /** Breaks the current connection, in both directions, after this number of further bytes to the client. */
  cutAfterReceived(bytes: number): void;
  /** The same for bytes to the server. */
  cutAfterSent(bytes: number): void;
  /** Stops all traffic of current connections, without notifying either end. */
  stall(): void;
  /** True: breaks the current connections and accepts no other until false. */
  setDown(isDown: boolean): void;
  close(): Promise<void>;
}

export async function createCuttingProxy(target: string): Promise<CuttingProxy> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  const left = { received: Number.POSITIVE_INFINITY, sent: Number.POSITIVE_INFINITY };
  let connections = 0;
  let isDown = false;

  let stalled = new Set<Socket>();
  const relay = (from: Socket, to: Socket, direction: keyof typeof left) => {
    from.on("data", (bytes: Buffer) => {
      if (stalled.has(from)) return;
      const allowed = bytes.subarray(0, left[direction]);
      left[direction] -= bytes.length;
      if (left[direction] > 0) {
        if (!to.write(bytes)) {
          from.pause();
          to.once("drain", () => from.resume());
        }
        return;
      }
      left[direction] = Number.POSITIVE_INFINITY;
      from.pause();
      // The allowed bytes arrive; then the connection is broken for both ends.
      to.write(allowed, () => {
        to.destroy();
        from.destroy();
      });
    });
    from.on("close", () => to.destroy());
    from.on("error", () => {});
  };
  const server = createServer((client) => {
    if (isDown) return void client.destroy();
    connections += 1;
    const upstream = connect(Number(port), hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.once("close", () => sockets.delete(socket));
    }
    relay(upstream, client, "received");
    relay(client, upstream, "sent");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  // Listening on TCP, so `address()` is not a path.
  const address = server.address() as AddressInfo;
  return {
    url: `ws://127.0.0.1:${address.port}`,
    get connections() {
      return connections;
    },
    cutAfterReceived(bytes) {
      left.received = bytes;
    },
    cutAfterSent(bytes) {
      left.sent = bytes;
    },
    stall() {
      stalled = new Set(sockets);
    },
    setDown(next) {
      isDown = next;
      if (isDown) for (const socket of sockets) socket.destroy();
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
