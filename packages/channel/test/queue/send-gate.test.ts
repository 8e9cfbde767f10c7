import { expect, test } from "vitest";
import { SendGate } from "../../src/queue/send-gate.js";
import { turn } from "../support.js";

/** A gate over a backlog in bytes: full at 100, room at 50. */
function gateOver(backlog: { bytes: number }): SendGate {
  return new SendGate({ isFull: () => backlog.bytes >= 100, hasRoom: () => backlog.bytes <= 50 });
}

test("passes below the high-water mark, blocks at it, and releases at half of it", async () => {
  const backlog = { bytes: 99 };
  const gate = gateOver(backlog);
  await gate.pass();
  backlog.bytes = 100;
  let passed = 0;
  const held = [gate.pass(), gate.pass()].map((each) => each.then(() => passed++));
  for (const bytes of [99, 51]) {
    backlog.bytes = bytes;
    gate.release();
    await turn();
    expect(passed).toBe(0);
  }
  backlog.bytes = 50;
  gate.release();
  await Promise.all(held);
  expect(passed).toBe(2);
});

test("rejects everything after a failure", async () => {
  const backlog = { bytes: 100 };
  const gate = gateOver(backlog);
  const held = gate.pass();
  gate.fail(new Error("first"));
  await expect(held).rejects.toThrow("first");
  backlog.bytes = 0;
  gate.fail(new Error("second"));
  await expect(gate.pass()).rejects.toThrow("first");
});
