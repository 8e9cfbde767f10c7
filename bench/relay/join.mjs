// Joins each two websockets that connect, one after the other, and does nothing else. Prints its address.
import { WebSocketServer } from "ws";
import { forward } from "./forward.mjs";

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
