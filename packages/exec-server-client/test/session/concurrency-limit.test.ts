import { expect, it } from "vitest";
import { ConcurrencyLimit } from "../../src/session/concurrency-limit.js";

it("runs a bounded number of calls at once, in their order, failures included", async () => {
  const inFlight = new ConcurrencyLimit(2);
  const begun: number[] = [];
  const ends: ((failure?: Error) => void)[] = [];
  const calls = [0, 1, 2, 3, 4].map((index) =>
    inFlight.run(() => {
      begun.push(index);
      return new Promise<number>((resolve, reject) => {
        ends[index] = (failure) => (failure === undefined ? resolve(index) : reject(failure));
      });
    }),
  );
  expect(begun).toEqual([0, 1]);
  ends[1]!();
  await calls[1];
  await untilTurn();
  expect(begun).toEqual([0, 1, 2]);
  ends[0]!(new Error("failed"));
  await expect(calls[0]).rejects.toThrow("failed");
  ends[2]!();
  await untilTurn();
  expect(begun).toEqual([0, 1, 2, 3, 4]);
  ends[3]!();
  ends[4]!();
  expect(await Promise.all(calls.slice(1))).toEqual([1, 2, 3, 4]);
});

it("gives up a call that waits for its turn when its signal aborts, and passes the turn on", async () => {
  const inFlight = new ConcurrencyLimit(1);
  let end = () => {};
  const first = inFlight.run(
    () =>
      new Promise<void>((resolve) => {
        end = resolve;
      }),
  );
  const abort = new AbortController();
  const second = inFlight.run(() => Promise.reject(new Error("it ran")), [abort.signal]);
  const third = inFlight.run(async () => "third");
  abort.abort(new Error("no longer wanted"));
  await expect(second).rejects.toThrow("no longer wanted");
  await expect(inFlight.run(async () => "never", [abort.signal])).rejects.toThrow("no longer wanted");
  end();
  expect([await first, await third]).toEqual([undefined, "third"]);
  expect(await inFlight.run(async () => "free")).toBe("free");
});

const untilTurn = () => new Promise((resolve) => setImmediate(resolve));
