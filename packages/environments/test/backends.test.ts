// The body that every backend passes, on environments of each kind.
import { createLocalEnvironment } from "@codex/local";
import { describe } from "vitest";
import { describeBackend } from "../../exec-server/test/backend/body.js";
import { CODEX_BINARY, startCodexServer } from "../../exec-server/test/backend/codex-server.js";
import { listenOwnServer } from "../../exec-server/test/backend/own-server.js";
import { createRemoteEnvironment, createWebSocketLink } from "../src/index.js";

const openAt = async (listen: () => Promise<{ url: string; close(): Promise<void> }>) => {
  const { url, close } = await listen();
  const link = createWebSocketLink({ url });
  const environment = createRemoteEnvironment({ id: "far", kind: "websocket", link });
  return { backend: environment.backend, close: () => environment.close().then(close) };
};

describeBackend("the environment of this host", {
  extended: true,
  async open() {
    const environment = createLocalEnvironment();
    return { backend: environment.backend, close: () => environment.close() };
  },
});

describeBackend("an environment at an exec-server", { extended: true, open: () => openAt(listenOwnServer) });

describe.skipIf(CODEX_BINARY === "")("with CODEX_BINARY", () => {
  describeBackend("an environment at codex exec-server", { extended: false, open: () => openAt(startCodexServer) });
});
