import { createMemoryChannelPair } from "@codex/channel";
import { AttachedExecutors, createRemoteEnvironment, type Environment } from "@codex/environments";
import { createEnvironmentInfo, createExecServer, type ExecServer } from "@codex/exec-server";
import { createExecutor, type ExecutorOptions } from "@codex/executor";
import { createLocalBackend } from "@codex/process-host";
import { VERSION } from "./version.js";

/** Options of `createLocalEnvironment`; all optional. */
export interface LocalEnvironmentOptions {
  /** Default `local`. */
  id?: string;
  /** Options of the executor that `attach` creates, apart from its backend. */
  executor?: Omit<ExecutorOptions, "backend">;
}

/**
 * The environment of this host. Its processes are started directly, without a protocol; for files and HTTP an exec-server is created in
 * this process when they are first used.
 */
export function createLocalEnvironment({ id = "local", executor }: LocalEnvironmentOptions = {}): Environment {
  const backend = createLocalBackend();
  const attached = new AttachedExecutors(id);
  let server: ExecServer | undefined;
  const inner = createRemoteEnvironment({
    id,
    kind: "local",
    link: {
      async open() {
        server ??= createExecServer({
          backend,
          environment: { info: await createEnvironmentInfo({ executorVersion: VERSION }) },
        });
        const [ours, its] = createMemoryChannelPair();
        void server.serve(its, { transport: { kind: "websocket", peer: "memory" } });
        return { channel: ours, serves: "exec-server" };
      },
      async close() {
        await server?.close();
        await backend.close();
      },
    },
  });
  const close = async () => {
    attached.refuse();
    await attached.close();
    await inner.close();
  };
  return {
    id,
    kind: "local",
    backend,
    files: inner.files,
    http: inner.http,
    serves: "exec-server",
    get state() {
      return inner.state;
    },
    onStateChange: (listener) => inner.onStateChange(listener),
    connect: (options) => inner.connect(options),
    info: () => inner.info(),
    attach: (orchestrator, options = {}) =>
      attached.add(options.signal, (signal) => {
        const [channel, its] = createMemoryChannelPair();
        // Each orchestrator has processes of its own, which end with its executor.
        void createExecutor({ ...executor, backend: createLocalBackend }).serve(its, { resumable: false });
        return orchestrator.attach({ name: id, channel, signal });
      }),
    close,
    [Symbol.asyncDispose]: close,
  };
}
