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

const untilTurn = () => new Promise((resolve) => setImmediate(resolve));
