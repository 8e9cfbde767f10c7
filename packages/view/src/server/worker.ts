import { parentPort, workerData } from "node:worker_threads";
import type { ServerOptions, ToServer } from "../wire/port.js";
import { ViewServer } from "./view-server.js";

// Only `ServerThread` starts this worker, with these options.
const options = workerData as ServerOptions;
const port = parentPort;
if (port === null) throw new Error("worker.js runs in a worker thread");
const server = new ViewServer(options, (message) => {
  port.postMessage(message);
  if (message.type === "closed") port.close();
});
port.on("message", (message: ToServer) => server.receive(message));
server.listen();
