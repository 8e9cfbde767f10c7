import { once } from "node:events";
import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import type { Key } from "../../src/input/keys.js";
import { Questions } from "../../src/interactive/questions.js";

const key = (raw: string): Key => ({ name: "text", text: raw, raw });

function setUp({ isTyping = false } = {}) {
  let now = 0;
  const log: string[] = [];
  const questions = new Questions({
    output: Object.assign(new PassThrough(), { isTTY: true }) as unknown as NodeJS.WriteStream, // only written to
    clock: { now: () => now },
    isTyping: () => isTyping,
    onOpen: () => log.push("open"),
    onClose: () => log.push("close"),
  });
  const ask = (signal = new AbortController().signal) =>
    questions.ask(async ({ input }) => String((await once(input, "data", { signal }))[0]), signal);
  const elapse = (ms: number) => {
    now += ms;
  };
  return { questions, ask, elapse, log };
}

async function untilOpen(questions: Questions): Promise<void> {
  while (!questions.isOpen) await new Promise((resolve) => setImmediate(resolve));
}

describe("a question in the middle of a conversation", () => {
  it("gets the keys that are typed while it is open, and one is open at a time", async () => {
    const { questions, ask, log } = setUp();
    expect(questions.take(key("x"))).toBe(false);
    const first = ask();
    const second = ask();
    await untilOpen(questions);
    expect(questions.take(key("y"))).toBe(true);
    expect(await first).toBe("y");
    await untilOpen(questions);
    questions.take(key("n"));
    expect(await second).toBe("n");
    expect(log).toEqual(["open", "close", "open", "close"]);
  });

  it("is not answered by keys in the middle of a message, nor by a paste", async () => {
    const { questions, ask, elapse } = setUp({ isTyping: true });
    const answer = ask();
    await untilOpen(questions);
    for (let count = 0; count < 5; count += 1) {
      elapse(900);
      expect(questions.take(key("y"))).toBe(false);
    }
    elapse(1_000);
    expect(questions.take({ name: "paste", text: "y", raw: "y" })).toBe(false);
    expect(questions.take(key("n"))).toBe(true);
    expect(await answer).toBe("n");
  });

  it("is withdrawn with its call", async () => {
    const { questions, ask, log } = setUp();
    const stop = new AbortController();
    const answer = ask(stop.signal);
    const late = ask(stop.signal);
    await untilOpen(questions);
    stop.abort(new Error("the turn is over"));
    await expect(answer).rejects.toThrow();
    await expect(late).rejects.toThrow("the turn is over");
    expect([questions.isOpen, log]).toEqual([false, ["open", "close"]]);
  });
});
