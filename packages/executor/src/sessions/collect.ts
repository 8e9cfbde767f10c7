import type { Clock } from "@codex/clock";
import type { WaitEnded } from "@codex/executor-protocol";
import { LONGEST_POST_EXIT_MS, POST_EXIT_MS, REMOTE_POST_EXIT_MS } from "../limits.js";
import { waitForPrompt } from "./prompt.js";
import type { Session } from "./session.js";

export interface Window {
  /** Milliseconds. */
  ms: number;
  /** Any of them ends the wait now; with the reason `WRITTEN` because of the input. */
  signals: readonly AbortSignal[];
  /** Ends the wait at the first byte at or after this offset. */
  outputFrom: number | undefined;
  /** Ends the wait when the program seems to wait for input. */
  untilPrompt: boolean;
}

/** Why a wait is aborted whose call was only for the input: it was taken, or never will be. */
export const WRITTEN = "written";

/** An abort reason: creating the default one, with its stack, would cost more than the wait it ends. */
const ENOUGH = "enough";

/**
 * Waits until the process has exited and its output is complete, or the window is over; never because output paused.
 * After an exit, output that another process holds open is waited for until it is quiet for a moment, also past the
 * deadline: the last bytes of a process must not miss the answer that reports its end. A call that comes later and asks
 * for output waits for such a moment as well. One timer at a time, and one more for a prompt.
 */
export async function waitForWindow(session: Session, clock: Clock, window: Window): Promise<WaitEnded> {
  const over = isOver(session, window);
  if (over !== undefined) return over;
  const done = new AbortController();
  let cancelTimer = () => {};
  let unwatch = () => {};
  const postExitMs = session.isRemote ? REMOTE_POST_EXIT_MS : POST_EXIT_MS;
  const ended = await new Promise<WaitEnded>((resolve) => {
    let waitsForExit = true;
    const check = () => {
      if (session.state.closed) return resolve("exit");
      if (!waitsForExit || session.exitedAt === undefined) return;
      waitsForExit = false;
      cancelTimer();
      if (session.exitedAt + postExitMs <= clock.now() && window.outputFrom === undefined) return resolve("exit");
      waitForQuiet(session.process.log.end, 0, clock.now() + LONGEST_POST_EXIT_MS);
    };
    /** In two halves: what the kernel holds is read between two timers, however late a busy host lets them come. */
    const waitForQuiet = (seen: number, quietHalves: number, deadline: number) => {
      cancelTimer = clock.after(postExitMs / 2, () => {
        const { end, isPaused } = session.process.log;
        const halves = end > seen || isPaused ? 0 : quietHalves + 1;
        if (halves === 2) session.quietEnd = end;
        if (halves === 2 || clock.now() >= deadline) resolve("exit");
        else waitForQuiet(end, halves, deadline);
      });
    };
    cancelTimer = clock.after(window.ms, () => {
      // Exited, but not reported yet: its own deadline follows within this turn.
      if (session.process.outcome.kind === "running") resolve("window");
    });
    unwatch = session.watch(check);
    // `AbortSignal.any` would make a further one, and hold on to those that live longer than this call.
    for (const signal of window.signals) {
      signal.addEventListener("abort", () => resolve(getAbortCause(signal)), { once: true, signal: done.signal });
    }
    if (window.outputFrom !== undefined) {
      void session.process.log.waitFor(window.outputFrom, done.signal).then(() => resolve("output"));
    }
    if (window.untilPrompt) {
      void waitForPrompt(session, clock, done.signal).then((seen) => seen !== undefined && resolve(seen));
    }
    check();
  });
  done.abort(ENOUGH);
  cancelTimer();
  unwatch();
  return ended;
}

function isOver(session: Session, { signals, outputFrom }: Window): WaitEnded | undefined {
  if (session.state.closed) return "exit";
  const aborted = signals.find((signal) => signal.aborted);
  if (aborted !== undefined) return getAbortCause(aborted);
  return outputFrom !== undefined && session.process.log.end > outputFrom ? "output" : undefined;
}

const getAbortCause = (signal: AbortSignal): WaitEnded => (signal.reason === WRITTEN ? "written" : "cancelled");

/** Before an answer reports an end for the first time: waits for the last bytes, whatever ended the wait before. */
export async function waitForRest(session: Session, clock: Clock): Promise<void> {
  if (session.outcomeReported || session.exitedAt === undefined || session.quietEnd !== undefined) return;
  await waitForWindow(session, clock, { ms: 0, signals: [], outputFrom: undefined, untilPrompt: false });
}
