import { StartError } from "./errors.js";
import type { ExecBackend, ProcessSpec } from "./exec-backend.js";
import { createGuard, type Guard } from "./guard.js";
import { type LocalProcess, startLocalProcess } from "./local-process.js";
import { createNative, type Native } from "./native.js";
import { resolveProgram } from "./program.js";

export interface LocalBackendOptions {
  native?: Native;
  guard?: Guard;
  /** Milliseconds that processes have to end by themselves when the backend is closed. */
  closeGraceMs?: number;
}

const DEFAULT_CLOSE_GRACE_MS = 500;

/**
 * Runs processes on this host. They are owned by the backend: `close` ends all of them with their groups, and so does
 * the death of this process, by whatever cause.
 */
export function createLocalBackend(options: LocalBackendOptions = {}): ExecBackend {
  const native = options.native ?? createNative();
  const guard = options.guard ?? createGuard();
  /** Processes whose group is not known to be empty. */
  const owned = new Set<LocalProcess>();
  const starting = new Set<Promise<unknown>>();
  let closing: Promise<void> | undefined;

  const sweep = () => {
    for (const process of owned) if (process.checkGroup()) owned.delete(process);
  };
  const start = async (spec: ProcessSpec) => {
    const file = resolveProgram(spec);
    if (closing !== undefined) throw new StartError("closed", "the process host is shutting down");
    sweep();
    const process = await startLocalProcess(spec, file, { native, guard, onExit: sweep });
    if (!process.checkGroup()) owned.add(process);
    return process;
  };
  const close = async () => {
    await Promise.allSettled(starting);
    const graceMs = options.closeGraceMs ?? DEFAULT_CLOSE_GRACE_MS;
    await Promise.all([...owned].map((process) => process.terminate({ by: "shutdown", graceMs })));
    for (const process of owned) process.dispose();
    owned.clear();
    guard.close();
  };
  return {
    start(spec) {
      const started = start(spec);
      starting.add(started);
      return started.finally(() => starting.delete(started));
    },
    close() {
      closing ??= close();
      return closing;
    },
  };
}
