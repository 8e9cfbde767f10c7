import type { Clock } from "@codex/clock";
import type { WaitEnded } from "@codex/executor-protocol";
import { LONGEST_POST_EXIT_MS, POST_EXIT_MS, REMOTE_POST_EXIT_MS } from "../limits.js";
import { waitForPrompt } from "./prompt.js";
import type { Session } from "./session.js";
import { afterAnswers } from "./session-questions.js";

export interface Window {
  /** Milliseconds. */
  ms: number;
  /** Each ends the wait when it aborts; reason `WRITTEN`: because of the input. */
  signals: readonly AbortSignal[];
  /** Ends the wait at the first byte at or after this offset. */
  outputFrom: number | undefined;
  /** Ends the wait when the program seems to wait for input. */
  untilPrompt: boolean;
}

/** Abort reason of a call that only sends input: the input was read by the program, or never will be. */
export const WRITTEN = "written";

/** An abort reason: creating the default one, with its stack, would cost more than the wait. */
const DONE = "done";

/**
 * Waits until the process has exited and its output is complete, or until the end of the window; a pause in the output does not
 * end the wait. After an exit, output that another process has open is read until there is none for a short time, also past the
 * deadline: the result that reports the end of a process must contain its last bytes. A later call with `until: "output"` waits
 * in the same way. One timer at a time, and one more for a prompt.
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
      const { end } = session.process.log;
      const isLate = session.exitedAt + postExitMs <= clock.now() && window.outputFrom === undefined;
      if (isLate) finish(end, clock.now(), false);
      else waitForQuiet(end, 0, clock.now() + LONGEST_POST_EXIT_MS);
    };
    /** Where the output comes over a connection, silence may be an outage: its host says whether more is to come. */
    const finish = (seen: number, deadline: number, isQuiet: boolean) => {
      const { process } = session;
      const report = () => {
        if (isQuiet) session.noteQuiet(seen);
        resolve("exit");
      };
      if (process.hasReceivedAll === undefined) return report();
      void process.hasReceivedAll().then((hasAll) => {
        if (done.signal.aborted) return;
        const { end } = process.log;
        const isOver = clock.now() >= deadline || (hasAll === true && end === seen);
        if (isOver && hasAll !== undefined) report();
        else waitForQuiet(end, 0, deadline);
      });
    };
    /** In two halves: output in kernel buffers is read between the two timers, however late they fire on a busy host. */
    const waitForQuiet = (seen: number, quietHalves: number, deadline: number) => {
      cancelTimer = clock.after(postExitMs / 2, () => {
        const { end, isPaused } = session.process.log;
        const halves = end > seen || isPaused ? 0 : quietHalves + 1;
        if (halves === 2 || clock.now() >= deadline) finish(end, deadline, halves === 2);
        else waitForQuiet(end, halves, deadline);
      });
    };
    cancelTimer = afterAnswers(session.questions, clock, window.ms, () => {
      // Exited, but not reported yet: its own deadline follows within this turn.
      if (session.process.outcome.kind === "running") resolve("window");
    });
    unwatch = session.watch(check);
    // `AbortSignal.any` would create another signal, and be retained by signals that outlive this call.
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
  done.abort(DONE);
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

/** To be called before a result first reports the end of a process: waits for its last output, whatever ended the previous wait. */
export async function waitForLastOutput(session: Session, clock: Clock): Promise<void> {
  if (session.outcomeReported || session.exitedAt === undefined || session.quietEnd !== undefined) return;
  await waitForWindow(session, clock, { ms: 0, signals: [], outputFrom: undefined, untilPrompt: false });
}
