import { type Channel, createMemoryChannelPair } from "@codex/channel";
import type { ToollessHost } from "@codex/exec-backend";
import { createExecutor, type ExecutorOptions } from "./executor.js";

/**
 * Provides hosts without tools with an executor of this process, such as for the option `hostTools` of `@codex/environments`. Each call of the
 * result starts one, which ends when its channel is closed.
 */
export const createHostTools =
  (options: Omit<ExecutorOptions, "backend" | "host" | "resolvePath" | "resumeGraceMs"> = {}) =>
  ({ createBackend, host, resolvePath, close }: ToollessHost): Channel => {
    const [ours, its] = createMemoryChannelPair();
    const executor = createExecutor({ ...options, backend: () => createBackend(), host, resolvePath });
    // A channel in memory is not lost and found again.
    void executor.serve(its, { resumable: false }).finally(() => close?.());
    return ours;
  };
