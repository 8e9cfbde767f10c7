import { pause, waitAtMost, waitUnlessAborted, withDeadline } from "@codex/clock";
import { describe, expect, it } from "vitest";

/** A clock with one timer, which the test fires. */
function createTimer() {
  let due: (() => void) | undefined;
  const after = (_ms: number, run: () => void) => {
    due = run;
    return () => {
      due = undefined;
    };
  };
  return { clock: { after }, fire: () => due?.(), isSet: () => due !== undefined };
}

const never = new Promise<string>(() => {});

it("waits for work that is done in time, and leaves no timer behind", async () => {
  const { clock, isSet } = createTimer();
  expect(await waitAtMost(clock, 10, Promise.resolve("done"))).toBe("done");
  expect(isSet()).toBe(false);
  await expect(waitAtMost(clock, 10, Promise.reject(new Error("broken")))).rejects.toThrow("broken");
  expect(isSet()).toBe(false);
});

it("gives up once the time is over", async () => {
  const { clock, fire } = createTimer();
  const waiting = waitAtMost(clock, 10, never);
  fire();
  expect(await waiting).toBeUndefined();
});

it("gives up when the signal aborts, or has aborted before", async () => {
  const abort = new AbortController();
  const waiting = waitUnlessAborted(abort.signal, never);
  abort.abort();
  expect(await waiting).toBeUndefined();
  expect(await waitUnlessAborted(abort.signal, never)).toBeUndefined();
});

it("waits for work whose signal does not abort, and hands on how it failed", async () => {
  const { signal } = new AbortController();
  expect(await waitUnlessAborted(signal, Promise.resolve(1))).toBe(1);
  await expect(waitUnlessAborted(signal, Promise.reject(new Error("broken")))).rejects.toThrow("broken");
});

it("pauses until the time is over, or fails with the reason of an abort before that", async () => {
  const { clock, fire, isSet } = createTimer();
  const abort = new AbortController();
  const paused = pause(clock, 10, abort.signal);
  fire();
  await paused;
  const aborted = pause(clock, 10, abort.signal);
  abort.abort(new Error("stopped"));
  await expect(aborted).rejects.toThrow("stopped");
  await expect(pause(clock, 10, abort.signal)).rejects.toThrow("stopped");
  expect(isSet()).toBe(false);
});

describe("work with a deadline", () => {
  const createError = () => new Error("too late");

  it("returns its result or throws its error in time, and leaves no timer behind", async () => {
    const { clock, isSet } = createTimer();
    expect(await withDeadline({ clock, ms: 10, createError }, async () => 1)).toBe(1);
    const failed = withDeadline({ clock, ms: 10, createError }, () => Promise.reject(new Error("broken")));
    await expect(failed).rejects.toThrow("broken");
    expect(isSet()).toBe(false);
  });

  it("fails once the time is over, and aborts the work", async () => {
    const { clock, fire } = createTimer();
    let given: AbortSignal | undefined;
    const late = withDeadline({ clock, ms: 10, createError }, (signal) => {
      given = signal;
      return never;
    });
    fire();
    await expect(late).rejects.toThrow("too late");
    expect(given?.aborted).toBe(true);
  });

  it("fails with the reason of an abort, also of an earlier one", async () => {
    const { clock, isSet } = createTimer();
    const abort = new AbortController();
    const waiting = withDeadline({ clock, ms: 10, createError, signal: abort.signal }, () => never);
    abort.abort(new Error("stopped"));
    await expect(waiting).rejects.toThrow("stopped");
    await expect(withDeadline({ clock, ms: 10, createError, signal: abort.signal }, () => never)).rejects.toThrow(
      "stopped",
    );
    expect(isSet()).toBe(false);
  });
});
