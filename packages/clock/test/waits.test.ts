import { waitAtMost, waitUnlessAborted } from "@codex/clock";
import { expect, it } from "vitest";

/** A clock with one timer, which runs when the test says so. */
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
