import type { Duplex } from "node:stream";
import type { Clock } from "@codex/clock";
import { ConnectionGone, Refusal } from "../refusal.js";

/** Collaborators of `holdUntil`. */
export interface HoldOptions<T> {
  /** The connection that waits; nothing may come on it. */
  wire: Duplex;
  clock: Pick<Clock, "after">;
  /** Milliseconds. */
  ms: number;
  /** What is waited for, if it is there. Called at once, and then whenever `subscribe` says so. */
  find: () => T | undefined;
  /** Calls `run` when `find` may find something. Returns a function that stops it. */
  subscribe: (run: () => void) => () => void;
  /** Made after the time. */
  createError: () => Refusal;
}

/**
 * Lets a connection wait. Resolves within the turn in which the thing is there, so that nobody else takes it.
 * @throws Refusal after the time, or when something comes; ConnectionGone; what `find` throws
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
        settle(error instanceof Error ? error : new Error(String(error)));
      }
      return true;
    };
    if (attempt()) return;
    const unsubscribe = subscribe(() => void attempt());
    const cancel = clock.after(ms, () => settle(createError()));
    const onData = () => settle(new Refusal("bad_request", "nothing may be sent before the websocket is open"));
    const onClose = () => settle(new ConnectionGone("the connection was closed while it waited"));
    stop = () => {
      unsubscribe();
      cancel();
      // It stays in flow: whoever opens the websocket does so within the turn, and reads on.
      wire.off("data", onData).off("end", onClose).off("close", onClose);
    };
    // Without reading the end would not be seen.
    wire.on("data", onData).on("end", onClose).on("close", onClose).resume();
  });
}
