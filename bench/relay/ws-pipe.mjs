// Passes the messages of each websocket on to a websocket server at a port of this host, and does nothing else. Prints its port.
import { WebSocket, WebSocketServer } from "ws";

/** Above so many unsent bytes the sender is paused. */
const HIGH_WATER_BYTES = 1024 * 1024;

const server = new WebSocketServer({ host: "127.0.0.1", port: 0, perMessageDeflate: false });
server.on("listening", () => process.stdout.write(`${server.address().port}\n`));
server.on("connection", (near, request) => {
  near.pause();
  const { authorization } = request.headers;
  const headers = authorization === undefined ? {} : { authorization };
  const far = new WebSocket(`ws://127.0.0.1:${process.argv[2]}${request.url}`, { perMessageDeflate: false, headers });
  far.on("error", () => near.terminate());
  near.on("error", () => far.terminate());
  far.on("open", () => {
    forward(near, far);
    forward(far, near);
    near.resume();
  });
});

function forward(from, to) {
  from.on("message", (data, isBinary) => {
    to.send(data, { binary: isBinary });
    if (to.bufferedAmount < HIGH_WATER_BYTES) return;
    from.pause();
    to._socket.once("drain", () => from.resume());
  });
  from.on("close", () => to.terminate());
}
