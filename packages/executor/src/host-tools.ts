import { type Channel, createMemoryChannelPair } from "@codex/channel";
import type { ToollessHost } from "@codex/exec-backend";
import { createExecutor, type ExecutorOptions } from "./executor.js";

/**
 * Returns a function that provides a host without tools with an executor in this process, for example as the option `hostTools`
 * of `@codex/environments`. Each call starts an executor, which ends when its channel is closed.
 */
export const createHostTools =
  (options: Omit<ExecutorOptions, "backend" | "host" | "resolvePath" | "resumeGraceMs"> = {}) =>
  ({ createBackend, host, resolvePath, close }: ToollessHost): Channel => {
    const [ours, its] = createMemoryChannelPair();
    const executor = createExecutor({ ...options, backend: () => createBackend(), host, resolvePath });
    // A channel in memory cannot be lost and resumed.
    void executor.serve(its, { resumable: false }).finally(() => close?.());
    return ours;
  };
