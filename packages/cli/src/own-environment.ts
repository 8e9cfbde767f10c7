import { createMemoryChannelPair } from "@codex/channel";
import { createRemoteEnvironment, type Environment } from "@codex/environments";
import type { CommandSandbox } from "@codex/sandbox";
import { startOwnExecutor } from "./own-executor.js";

/**
 * This host: its tools are those of an executor in this process. Files, HTTP and programs of its own go through an exec-server in this
 * process, which also applies their sandbox, and which is created on first use. The caller closes it.
 * @param options `sandbox`: shared with an executor in this process; default its own
 */
export function createOwnEnvironment({ sandbox }: { sandbox?: CommandSandbox | undefined } = {}): Environment {
  let server: ReturnType<typeof openServer> | undefined;
  return createRemoteEnvironment({
    id: "local",
    kind: "local",
    hostTools: () => startOwnExecutor({ sandbox }),
    link: {
      async open() {
        server ??= openServer(sandbox);
        const [ours, its] = createMemoryChannelPair();
        void (await server).server.serve(its, { transport: { kind: "websocket", peer: "memory" } });
        return { channel: ours, serves: "exec-server" };
      },
      close: async () => (await server?.catch(() => undefined))?.close(),
    },
  });
}

const openServer = async (sandbox: CommandSandbox | undefined) =>
  (await import("@codex/servers/local-exec-server")).createLocalExecServer({}, {}, { sandbox });
