import type { Clock } from "../clock.js";
import { POST_EXIT_MS } from "../limits.js";
import type { Session } from "./session.js";

export interface Window {
  /** Milliseconds. */
  ms: number;
  /** Ends the wait now. */
  signal: AbortSignal;
  /** Ends the wait at the first byte at or after this offset. */
  outputFrom: number | undefined;
}

/** A reason of our own: making the default one, with its stack, would cost more than the wait it ends. */
const ENOUGH = "enough";

/**
 * Waits until the process has exited and its output is complete, or the window is over; never because output paused.
 * After an exit, output that somebody else still holds open is waited for a moment more, also past the deadline: the
 * last bytes of a process must not miss the answer that tells its end. One timer at a time.
 */
export async function waitForWindow(session: Session, clock: Clock, window: Window): Promise<void> {
  if (isOver(session, window)) return;
  const done = new AbortController();
  let cancelTimer = () => {};
  let unwatch = () => {};
  const { signal } = window;
  await new Promise<void>((resolve) => {
    const finish = () => resolve();
    let waitsForExit = true;
    const look = () => {
      if (session.state.closed) return finish();
      if (!waitsForExit || session.exitedAt === undefined) return;
      waitsForExit = false;
      cancelTimer();
      const left = session.exitedAt + POST_EXIT_MS - clock.now();
      if (left <= 0) return finish();
      cancelTimer = clock.after(left, finish);
    };
    cancelTimer = clock.after(window.ms, () => {
      // Exited, but not told yet: its own deadline follows within this turn.
      if (session.process.outcome.kind === "running") finish();
    });
    unwatch = session.watch(look);
    signal.addEventListener("abort", finish, { once: true, signal: done.signal });
    if (window.outputFrom !== undefined) {
      void session.process.log.waitFor(window.outputFrom, done.signal).then(finish);
    }
    look();
  });
  done.abort(ENOUGH);
  cancelTimer();
  unwatch();
}

function isOver(session: Session, { signal, outputFrom }: Window): boolean {
  if (signal.aborted || session.state.closed) return true;
  return outputFrom !== undefined && session.process.log.end > outputFrom;
}
