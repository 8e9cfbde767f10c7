// A TCP relay whose connections can be cut at any moment.
import { once } from "node:events";
import { connect, createServer } from "node:net";

export async function createCutter(target) {
  const { hostname, port } = new URL(target);
  const sockets = new Set();
  let cuts = 0;
  const server = createServer((near) => {
    const far = connect(Number(port), hostname);
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on("error", () => {});
      socket.on("close", () => {
        sockets.delete(socket);
        other.destroy();
      });
      socket.pipe(other);
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const cut = () => {
    if (sockets.size > 0) cuts += 1;
    for (const socket of sockets) socket.resetAndDestroy();
  };
  return {
    url: `ws://127.0.0.1:${server.address().port}`,
    get cuts() {
      return cuts;
    },
    cut,
    async close() {
      cut();
      server.close();
      await once(server, "close");
    },
  };
}
