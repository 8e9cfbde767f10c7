// Joins each two websockets that connect, one after the other, and does nothing else. Prints its address.
import { WebSocketServer } from "ws";

/** Above so many unsent bytes the sender is paused. */
const HIGH_WATER_BYTES = 1024 * 1024;

let waiting;
const server = new WebSocketServer({ host: "127.0.0.1", port: 0, perMessageDeflate: false });
server.on("listening", () => process.stdout.write(`http://127.0.0.1:${server.address().port}\n`));
server.on("connection", (socket) => {
  if (waiting === undefined) {
    waiting = socket;
    return;
  }
  forward(socket, waiting);
  forward(waiting, socket);
  waiting = undefined;
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
