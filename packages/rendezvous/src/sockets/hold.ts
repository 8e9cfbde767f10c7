import type { Duplex } from "node:stream";
import type { Clock } from "@codex/clock";
import { toError } from "@codex/values";
import { ConnectionGone, Refusal } from "../refusal.js";

/** Collaborators of `holdUntil`. */
export interface HoldOptions<T> {
  /** The waiting connection, which must not receive data. */
  wire: Duplex;
  clock: Pick<Clock, "after">;
  /** Milliseconds. */
  ms: number;
  /** Returns the awaited value, if available. Called immediately, and on each call of `subscribe`'s listener. */
  find: () => T | undefined;
  /** Calls `run` when `find` may find something. Returns a function that stops it. */
  subscribe: (run: () => void) => () => void;
  /** Creates the error after the time limit. */
  createError: () => Refusal;
}

/**
 * Keeps a connection waiting. Resolves in the same turn of the event loop in which the value is available, before others can take it.
 * @throws Refusal after the time limit, or when data is received; ConnectionGone; what `find` throws
 */
export function holdUntil<T>(
  { wire, clock, ms, find, subscribe, createError }: HoldOptions<T>,
  use: (found: T) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let stop = () => {};
    const settle = (error?: Error) => {
      stop();
      if (error === undefined) resolve();
      else reject(error);
    };
    const attempt = () => {
      try {
        const found = find();
        if (found === undefined) return false;
        stop();
        use(found);
        resolve();
      } catch (error) {
        settle(toError(error));
      }
      return true;
    };
    if (attempt()) return;
    const unsubscribe = subscribe(() => void attempt());
    const cancel = clock.after(ms, () => settle(createError()));
    const onData = () => settle(new Refusal("bad_request", "data was sent before the websocket was open"));
    const onClose = () => settle(new ConnectionGone("the connection was closed while it waited"));
    stop = () => {
      unsubscribe();
      cancel();
      // It keeps flowing: the caller opens the websocket synchronously, and continues reading.
      wire.off("data", onData).off("end", onClose).off("close", onClose);
    };
    // Without reading, its end would not be detected.
    wire.on("data", onData).on("end", onClose).on("close", onClose).resume();
  });
}
