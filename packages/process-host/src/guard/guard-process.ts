import { StartError } from "@codex/exec-backend";
import type { WrappedCommand } from "@codex/sandbox";
import { messageOf } from "@codex/values";
import { signalGroup, signalProcess } from "../ending/process-group.js";
import type { Guard } from "./guard.js";

/** Starts the guard before the first process. @throws StartError */
export function openGuard(guard: Guard): void {
  try {
    guard.open();
  } catch (cause) {
    throw unguarded(cause);
  }
}

/** Adds a process group to the guard; kills it when that fails. @throws StartError */
export function guardGroup(pgid: number, guard: Guard): void {
  try {
    guard.add(pgid);
  } catch (cause) {
    signalGroup(pgid, "SIGKILL") || signalProcess(pgid, "SIGKILL");
    throw unguarded(cause);
  }
}

const unguarded = (cause: unknown) =>
  new StartError(
    "os_error",
    `the process was not started: the guard that ends it with its host failed: ${messageOf(cause)}`,
    {
      cause,
    },
  );

/** The guard removes the placeholders of a sandbox when this process is killed, and moves aside what the command created at names to keep free. */
export function guardPlaceholders<Wrapped extends WrappedCommand | undefined>(wrapped: Wrapped, guard: Guard): Wrapped {
  if (wrapped === undefined || wrapped.reservedPaths.length + wrapped.freeNames.length === 0) return wrapped;
  for (const path of wrapped.reservedPaths) guard.addPlaceholder(path);
  for (const { path } of wrapped.freeNames) guard.addFreeName(path);
  let released: Promise<void> | undefined;
  const release = async () => {
    await wrapped.release();
    for (const path of wrapped.reservedPaths) guard.removePlaceholder(path);
    for (const { path } of wrapped.freeNames) guard.removeFreeName(path);
  };
  return {
    ...wrapped,
    release() {
      released ??= release();
      return released;
    },
  };
}
