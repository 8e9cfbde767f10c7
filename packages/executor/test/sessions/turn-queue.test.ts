import { describe, expect, it } from "vitest";
import { TurnQueue } from "../../src/sessions/turn-queue.js";

describe("a turn queue", () => {
  it("gives one turn at a time, in the order of asking, and passes over those who left", async () => {
    const queue = new TurnQueue();
    const order: string[] = [];
    const leaving = new AbortController();
    const first = queue.take();
    const second = queue.take(leaving.signal).then((end) => {
      order.push(end === undefined ? "second left" : "second");
      end?.();
    });
    const third = queue.take().then((end) => {
      order.push("third");
      end?.();
    });
    const endFirst = await first;
    leaving.abort();
    await second;
    expect(order).toEqual(["second left"]);
    order.push("first ends");
    endFirst?.();
    await third;
    expect(order).toEqual(["second left", "first ends", "third"]);
  });

  it("gives no turn to one who left before asking", async () => {
    const queue = new TurnQueue();
    expect(await queue.take(AbortSignal.abort())).toBeUndefined();
    expect(await queue.take()).toBeTypeOf("function");
  });
});
