import { createRemoteBackend, ExecServerClient } from "@codex/exec-server-client";
import { describeBackend } from "./body.js";
import { connectorTo, listenOwnServer, startOwnServer } from "./own-server.js";

describeBackend("a remote backend in this process", {
  extended: true,
  async open() {
    const { server, close } = await startOwnServer();
    const client = await ExecServerClient.connect(connectorTo(server));
    return { backend: createRemoteBackend(client), close: () => client.close().then(close) };
  },
});

describeBackend("a remote backend over a websocket", {
  extended: true,
  async open() {
    const { url, close } = await listenOwnServer();
    const client = await ExecServerClient.connectWebSocket(url);
    return { backend: createRemoteBackend(client), close: () => client.close().then(close) };
  },
});
