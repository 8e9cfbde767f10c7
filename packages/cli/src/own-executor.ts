import { type Channel, createMemoryChannelPair } from "@codex/channel";
import { createExecutor, type ExecutorOptions } from "@codex/executor";
import { createNative } from "@codex/native";
import { createLocalBackend } from "@codex/process-host";
import type { RemoteHost } from "./exec-server-host.js";
import { OWN_LOG_TAIL_BYTES, OWN_PIPE_BYTES } from "./limits.js";

export interface OwnExecutorOptions {
  /** Nothing will ask for a sandbox: whether this host has one is not tried out, and a command that asks is refused. */
  withoutSandbox?: boolean | undefined;
  /** Nobody looks at live output once it counts as taken: its memory is used again. */
  lendsOutput?: boolean | undefined;
}

/** An executor of this host in this process. Closing the channel ends it and everything it started. */
export const startOwnExecutor = ({ withoutSandbox = false, lendsOutput = false }: OwnExecutorOptions = {}): Channel =>
  start({
    limits: {
      log: { lendsChunks: lendsOutput, tailBytes: OWN_LOG_TAIL_BYTES },
      binaryDeltaBytes: OWN_PIPE_BYTES,
    },
    backend() {
      const native = createNative(undefined, { outputPipeBytes: OWN_PIPE_BYTES, closeInheritedOnExec: true });
      const backend = createLocalBackend({ shielded: true, native });
      return withoutSandbox ? { start: (spec) => backend.start(spec), close: () => backend.close() } : backend;
    },
  });

/** An executor in this process whose programs run behind an exec-server. Owns that; closing the channel ends both. */
export const startExecutorOver = ({ createBackend, host, resolvePath, close }: RemoteHost): Channel =>
  start({ backend: createBackend, host, resolvePath }, close);

function start(options: ExecutorOptions, onEnd?: () => Promise<void>): Channel {
  const [ours, its] = createMemoryChannelPair();
  void createExecutor(options).serve(its, { resumable: false }).finally(onEnd);
  return ours;
}
