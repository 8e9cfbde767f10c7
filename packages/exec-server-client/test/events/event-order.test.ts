import { describe, expect, it } from "vitest";
import { EventOrder } from "../../src/events/event-order.js";
import type { NumberedEvent, ProcessEvent } from "../../src/events/process-event.js";
import { MAX_HELD_BYTES, MAX_HELD_EVENTS } from "../../src/limits.js";

const output = (seq: number, text = `<${seq}>`): Extract<NumberedEvent, { kind: "output" }> => ({
  kind: "output",
  seq,
  stream: "stdout",
  bytes: Buffer.from(text),
});
const exited = (seq: number): NumberedEvent => ({ kind: "exited", seq, exitCode: 5, sandboxDenied: false });
const running = { exit: undefined, closed: false };
const ended = { exit: { exitCode: 5, sandboxDenied: false }, closed: true };

describe("the order of events", () => {
  it("is kept for any order of arrival, with repeats and responses in between", () => {
    for (let seed = 1; seed <= 300; seed += 1) {
      const random = createRandom(seed);
      const all: NumberedEvent[] = Array.from({ length: 20 }, (_, index) => output(index + 1));
      const exitAt = Math.floor(random() * 20);
      all[exitAt] = exited(exitAt + 1);
      all.push({ kind: "closed", seq: 21 });
      const arrivals = [...all, ...all].sort(() => random() - 0.5);
      const order = new EventOrder();
      const passed: ProcessEvent[] = [];
      for (const event of arrivals) {
        if (random() < 0.1) {
          const known = Math.max(order.position, Math.floor(random() * 22));
          const state = { exit: known >= exitAt + 1 ? ended.exit : undefined, closed: known === 21 };
          const chunks = all
            .filter((each) => each.kind === "output")
            .filter(({ seq }) => seq <= known && seq > order.position);
          passed.push(...order.catchUp({ chunks, nextSeq: known + 1, ...state }));
        }
        passed.push(...order.push(event));
      }
      expect(passed, `seed ${seed}`).toEqual(all);
    }
  });

  it("holds a bounded number of events, and reads the others again", () => {
    const order = new EventOrder();
    for (let seq = 2; seq <= MAX_HELD_EVENTS + 10; seq += 1) expect(order.push(output(seq, ""))).toEqual([]);
    expect(order.push(output(1, ""))).toHaveLength(MAX_HELD_EVENTS + 1);
    expect(order.position).toBe(MAX_HELD_EVENTS + 1);
    expect(order.hasGap).toBe(true);
    const rest = Array.from({ length: 9 }, (_, index) => output(MAX_HELD_EVENTS + 2 + index, ""));
    order.catchUp({ chunks: rest, nextSeq: MAX_HELD_EVENTS + 11, ...running });
    expect(order.hasGap).toBe(false);
  });

  it("holds a bounded number of bytes", () => {
    const order = new EventOrder();
    order.push(output(2, "x".repeat(MAX_HELD_BYTES)));
    order.push(output(3));
    expect([order.isHeld(2), order.isHeld(3)]).toEqual([true, false]);
    order.push(output(1));
    order.push(output(3));
    expect(order.position).toBe(3);
  });

  it("tells the exit though every number has an event, and once", () => {
    const order = new EventOrder();
    const passed = order.catchUp({ chunks: [output(1)], nextSeq: 2, ...ended, closed: false });
    expect(passed.map(({ kind }) => kind)).toEqual(["output", "exited"]);
    expect(order.push(exited(2))).toEqual([]);
    expect(order.push({ kind: "closed", seq: 3 })).toEqual([{ kind: "closed", seq: 3 }]);
  });

  it("puts the exit after what was dropped", () => {
    const passed = new EventOrder().catchUp({ chunks: [output(8)], nextSeq: 10, ...ended });
    expect(passed).toEqual([
      { kind: "gap", chunks: 6, chunkBytes: 3 },
      exited(7),
      output(8),
      { kind: "closed", seq: 9 },
    ]);
  });

  it("passes nothing after the end", () => {
    const order = new EventOrder();
    order.catchUp({ chunks: [], nextSeq: 3, ...ended });
    expect(order.push(output(3))).toEqual([]);
    expect(order.catchUp({ chunks: [output(4)], nextSeq: 5, ...ended })).toEqual([]);
    expect(order.hasGap).toBe(false);
  });
});

/** Numbers from 0 to 1 that are the same for the same seed. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}
