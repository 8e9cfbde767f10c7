import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A network between a client and a server that can be cut, or go silent. */
export interface Relay {
  url: string;
  /** Both ends see a reset. */
  cut(): void;
  /** How often it was. */
  readonly cuts: number;
  /** The client's end is cut; the server does not notice. */
  loseClient(): void;
  close(): Promise<void>;
}

export async function createRelay(target: string): Promise<Relay> {
  const { hostname, port } = new URL(target);
  const pairs = new Set<{ near: Socket; far: Socket }>();
  const server = createServer((near) => {
    const far = connect({ host: hostname, port: Number(port) });
    const pair = { near, far };
    pairs.add(pair);
    for (const socket of [near, far]) socket.setNoDelay(true).on("error", () => {});
    near.pipe(far);
    far.pipe(near);
    near.on("close", () => {
      if (!silent.has(near)) far.destroy();
    });
    far.on("close", () => {
      pairs.delete(pair);
      near.destroy();
    });
  });
  const silent = new WeakSet<Socket>();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  let cuts = 0;
  const cut = () => {
    cuts += 1;
    for (const { near, far } of pairs) {
      near.resetAndDestroy();
      far.resetAndDestroy();
    }
  };
  return {
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut,
    get cuts() {
      return cuts;
    },
    loseClient() {
      for (const { near, far } of pairs) {
        silent.add(near);
        near.unpipe(far);
        far.unpipe(near);
        near.resetAndDestroy();
        far.resume();
      }
    },
    async close() {
      cut();
      server.close();
      await once(server, "close");
    },
  };
}
