import { createMemoryChannelPair } from "@codex/channel";
import { createRemoteEnvironment, type Environment } from "@codex/environments";
import { startOwnExecutor } from "./own-executor.js";

/**
 * This host: its tools are those of an executor in this process. Files, HTTP and programs of its own go through an exec-server in this
 * process, which also holds them in a sandbox, and which is made when they are first used. The caller closes it.
 */
export function createOwnEnvironment(): Environment {
  let server: ReturnType<typeof openServer> | undefined;
  return createRemoteEnvironment({
    id: "local",
    kind: "local",
    hostTools: () => startOwnExecutor(),
    link: {
      async open() {
        server ??= openServer();
        const [ours, its] = createMemoryChannelPair();
        void (await server).server.serve(its, { transport: { kind: "websocket", peer: "memory" } });
        return { channel: ours, serves: "exec-server" };
      },
      close: async () => (await server?.catch(() => undefined))?.close(),
    },
  });
}

const openServer = async () => (await import("./local-exec-server.js")).createLocalExecServer({});
