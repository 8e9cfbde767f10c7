import { once } from "node:events";
import { type AddressInfo, connect, createServer, Socket } from "node:net";
import { relay } from "./faulty-relay.js";
import type { WirePlan } from "./wire-fault.js";

/** A TCP proxy in front of a server, whose connections break according to a plan. */
export interface FaultProxy {
  /** With the scheme and path of the target. */
  readonly url: string;
  /** Connections so far. */
  readonly connections: number;
  /** Removes faults from later connections, and ends half-open ones. */
  heal(): void;
  /** Breaks current connections and refuses new ones, until `heal`. */
  sever(): void;
  /** Sets the target of later connections. */
  setTarget(url: string): void;
  close(): Promise<void>;
}

export async function createFaultProxy(
  target: string,
  plan: WirePlan,
  note: (text: string) => void,
): Promise<FaultProxy> {
  const sockets = new Set<Socket>();
  let to = new URL(target);
  let connections = 0;
  let healed = false;
  let severed = false;

  const hold = (socket: Socket) => {
    sockets.add(socket);
    socket.setNoDelay(true);
    socket.on("error", () => {});
    socket.once("close", () => sockets.delete(socket));
    return socket;
  };
  const server = createServer((accepted) => {
    const client = hold(accepted);
    if (severed) return client.destroy();
    connections += 1;
    const number = connections;
    note(`wire: connection ${number}`);
    relay(
      { client, server: hold(connect(Number(to.port), to.hostname)) },
      {
        faults: healed ? [] : (plan[number - 1] ?? []),
        breakWire: (end) => void (end instanceof Socket && number % 2 === 0 ? end.resetAndDestroy() : end.destroy()),
        note: (text) => note(`wire: connection ${number}: ${text}`),
      },
    );
  });
  const breakAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  // Listening on TCP, so `address()` is not a path.
  const { port } = server.address() as AddressInfo;
  return {
    url: `${to.protocol}//127.0.0.1:${port}${to.pathname === "/" ? "" : to.pathname}`,
    get connections() {
      return connections;
    },
    heal() {
      healed = true;
      severed = false;
    },
    sever() {
      severed = true;
      note("wire: severed");
      breakAll();
    },
    setTarget(url) {
      to = new URL(url);
    },
    async close() {
      breakAll();
      server.close();
      await once(server, "close");
    },
  };
}
