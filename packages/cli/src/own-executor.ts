import { type Channel, createMemoryChannelPair } from "@codex/channel";
import { createExecutor, type ExecutorOptions } from "@codex/executor";
import { createNative } from "@codex/native";
import { createLocalBackend } from "@codex/process-host";
import { type CommandSandbox, createCommandSandbox } from "@codex/sandbox";
import { OUTPUT_PIPE_BYTES, OUTPUT_READ_BYTES, OUTPUT_TAIL_BYTES } from "@codex/servers";
import { defined } from "@codex/values";

export interface OwnExecutorOptions {
  /** Skip probing this host for a sandbox; a command that asks for one is refused. */
  withoutSandbox?: boolean | undefined;
  /** Reuse the memory of live output once it is consumed. */
  lendsOutput?: boolean | undefined;
  /** Shared with other users of this host's sandbox, so that its trial run happens once; default its own. */
  sandbox?: CommandSandbox | undefined;
}

/** The sandbox of this host. @param isTried starts its trial run, which only the first use of a sandbox waits for */
export function createOwnSandbox(isTried: boolean): CommandSandbox {
  const sandbox = createCommandSandbox({ native: createOwnNative() });
  if (isTried) void sandbox.getSupport();
  return sandbox;
}

const createOwnNative = () =>
  createNative(undefined, {
    outputPipeBytes: OUTPUT_PIPE_BYTES,
    outputReadBytes: OUTPUT_READ_BYTES,
    closeInheritedOnExec: true,
  });

/** Starts an executor for this host in this process. Closing the channel ends it and everything it started. */
export const startOwnExecutor = ({
  withoutSandbox = false,
  lendsOutput = false,
  sandbox,
}: OwnExecutorOptions = {}): Channel =>
  start({
    limits: {
      log: { lendsChunks: lendsOutput, tailBytes: OUTPUT_TAIL_BYTES },
      binaryDeltaBytes: OUTPUT_READ_BYTES,
    },
    backend() {
      const native = createOwnNative();
      const backend = createLocalBackend({ shielded: true, native, ...defined({ sandbox }) });
      if (!withoutSandbox) return backend;
      const close = () => backend.close();
      return { start: (spec) => backend.start(spec), close, [Symbol.asyncDispose]: close };
    },
  });

function start(options: ExecutorOptions): Channel {
  const [ours, its] = createMemoryChannelPair();
  void createExecutor(options).serve(its, { resumable: false });
  return ours;
}
