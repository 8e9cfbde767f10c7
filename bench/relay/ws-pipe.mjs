// Passes the messages of each websocket on to a websocket server at a port of this host, and does nothing else. Prints its port.
import { WebSocket, WebSocketServer } from "ws";
import { forward } from "./forward.mjs";

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
