import type { Clock } from "@codex/clock";
import { ModelError } from "../model-port.js";

/** Aborts a request on an idle timeout, or when its caller aborts. */
export interface IdleWatch {
  /** Aborted with a `ModelError` of code `idle_timeout`, or with the caller's reason. */
  readonly signal: AbortSignal;
  /** Resets the timeout. */
  touch(): void;
  /** Removes timer and listener. */
  end(): void;
}

/** @param idleMs idle timeout, milliseconds */
export function startIdleWatch(clock: Clock, idleMs: number, caller: AbortSignal): IdleWatch {
  const controller = new AbortController();
  const onIdle = () => {
    const message = `nothing was received from the endpoint for ${idleMs} ms`;
    controller.abort(new ModelError("idle_timeout", message, { retry: "stream" }));
  };
  const onAbort = () => controller.abort(caller.reason);
  let cancel = clock.after(idleMs, onIdle);
  if (caller.aborted) onAbort();
  else caller.addEventListener("abort", onAbort, { once: true });
  return {
    signal: controller.signal,
    touch() {
      cancel();
      cancel = clock.after(idleMs, onIdle);
    },
    end() {
      cancel();
      caller.removeEventListener("abort", onAbort);
    },
  };
}
