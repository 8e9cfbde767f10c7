import { setImmediate as nextTurn } from "node:timers/promises";
import type { Clock } from "@codex/clock";
import { PROMPT_BACKOFF, PROMPT_GUESS_MS, PROMPT_LISTENS_MS, PROMPT_QUIET_MS } from "../limits.js";
import type { Session } from "./session.js";

/** `prompt`: the program waits for input. `quiet`: this cannot be determined on this host, and there was no output for a while. */
export type PromptSeen = "prompt" | "quiet";

/**
 * Resolves when the program of a session seems to wait for input, or when the signal aborts. A program is checked when
 * its output pauses, and then at increasing intervals until there is output again.
 */
export async function waitForPrompt(
  session: Session,
  clock: Clock,
  signal: AbortSignal,
): Promise<PromptSeen | undefined> {
  const { log } = session.process;
  let delay = PROMPT_QUIET_MS;
  for (let end = log.end, quietSince = clock.now(); !signal.aborted; ) {
    await untilOutput(session, end, { clock, ms: delay, signal });
    if (signal.aborted) break;
    if (log.end === end) {
      const seen = await checkPrompt(session, clock.now() - quietSince);
      // Output in transit belongs before the prompt.
      await nextTurn();
      if (typeof seen === "string" && log.end === end) return seen;
      delay = typeof seen === "number" ? seen : delay * PROMPT_BACKOFF;
    }
    if (log.end !== end) {
      end = log.end;
      quietSince = clock.now();
      delay = PROMPT_QUIET_MS;
    }
  }
  return undefined;
}

/** A short wait is not ended by output: with much output, every piece would end one. */
async function untilOutput(
  session: Session,
  end: number,
  { clock, ms, signal }: { clock: Clock; ms: number; signal: AbortSignal },
): Promise<void> {
  const done = new AbortController();
  await new Promise<void>((resolve) => {
    const cancel = clock.after(ms, resolve);
    const finish = () => {
      cancel();
      resolve();
    };
    signal.addEventListener("abort", finish, { once: true, signal: done.signal });
    if (ms > PROMPT_QUIET_MS) void session.process.log.waitFor(end, done.signal).then(finish);
  });
  done.abort();
}

/** A result, or the milliseconds of silence after which there will be one, or undefined while the program is busy. */
async function checkPrompt(session: Session, quietMs: number): Promise<PromptSeen | number | undefined> {
  // It has not read its previous input.
  if (session.input.waitingBytes > 0) return undefined;
  const wait = (await session.process.getInputWait?.()) ?? "unknown";
  if (wait === "waits") return "prompt";
  if (wait === "busy") return undefined;
  const left = (wait === "listens" ? PROMPT_LISTENS_MS : PROMPT_GUESS_MS) - quietMs;
  if (left > 0) return left;
  return wait === "listens" ? "prompt" : "quiet";
}
