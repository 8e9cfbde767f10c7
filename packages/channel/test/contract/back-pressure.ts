import { expect, test } from "vitest";
import { nextValue, turn, untilStill } from "../support.js";
import type { ContractContext } from "./transport.js";

/** A slow reader blocks its sender, and nothing else. */
export function describeBackPressure({ connect }: ContractContext): void {
  test("lets other work run while values that arrived together are handled", async () => {
    const { left, right } = await connect();
    const sending = Array.from({ length: 40 }, (_, index) => left.send(index));
    let turns = 0;
    const count = () => {
      turns += 1;
      counting = setImmediate(count);
    };
    let counting = setImmediate(count);
    for (let index = 0; index < 40; index += 1) {
      expect(await nextValue(right)).toBe(index);
      const until = performance.now() + 1;
      while (performance.now() < until);
    }
    clearImmediate(counting);
    expect(turns).toBeGreaterThanOrEqual(10);
    await Promise.all(sending);
    // Values that had arrived are also delivered after the end.
    for (let index = 0; index < 20; index += 1) void left.send(index);
    await left.close();
    for (let index = 0; index < 20; index += 1) {
      expect(await nextValue(right)).toBe(index);
      const until = performance.now() + 0.5;
      while (performance.now() < until);
    }
    expect(await right.receive()).toBeUndefined();
  });

  test("blocks the sender while the receiver takes nothing", async () => {
    const { left, right } = await connect({ highWaterBytes: 256 * 1024, maxWaitingBytes: 256 * 1024 });
    const total = 1_024;
    const fill = "b".repeat(64 * 1024);
    let accepted = 0;
    const sending = (async () => {
      for (let n = 0; n < total; n++) {
        await left.send({ n, fill });
        accepted++;
      }
    })();
    await untilStill(() => accepted);
    // Of 64 MiB, only the two queues and the system's buffers between them are filled without a reader.
    expect(accepted * fill.length).toBeLessThan(12 * 1024 * 1024);
    for (let n = 0; n < total; n++) expect(await nextValue(right)).toMatchObject({ n });
    await sending;
  });

  test("blocks a sender of many small messages", async () => {
    const { left, right } = await connect({ highWaterBytes: 64 * 1024, maxWaitingMessages: 16 });
    const total = 100_000;
    const fill = "s".repeat(300);
    let accepted = 0;
    let stopped = false;
    const sending = (async () => {
      for (let n = 0; n < total && !stopped; n++) {
        await left.send([n, fill]);
        accepted++;
        if (n % 1_000 === 0) await turn();
      }
    })();
    await untilStill(() => accepted);
    expect(accepted).toBeLessThan(total);
    stopped = true;
    let taken = 0;
    while (taken < accepted) expect(await nextValue(right)).toEqual([taken++, fill]);
    await sending;
  });
}
