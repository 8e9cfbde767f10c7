import { describe, expect, it } from "vitest";
import { AckTracker } from "../../src/connection/ack-tracker.js";

const heard = (acks: AckTracker, processId: number, seq: number, offset: number, bytes: number) =>
  acks.noteOutput({
    requestId: "r",
    processId,
    seq,
    offset,
    stream: "stdout",
    bytes: Buffer.alloc(bytes),
    isContinued: false,
  }).gap;

describe("an ack tracker", () => {
  it("detects repeated output and gaps", () => {
    const acks = new AckTracker();
    expect(heard(acks, 7, 1, 0, 5)).toBeUndefined();
    expect(heard(acks, 7, 2, 5, 3)).toBeUndefined();
    expect(heard(acks, 7, 5, 20, 1)).toEqual({ from: 8, to: 20 });
    expect(acks.positions).toEqual([{ processId: 7, offset: 21 }]);
  });

  it("forgets a session whose id was reused", () => {
    const acks = new AckTracker();
    heard(acks, 7, 1, 0, 500);
    expect(heard(acks, 7, 1, 0, 5)).toBeUndefined();
    expect(acks.positions).toEqual([{ processId: 7, offset: 5 }]);
    expect(heard(acks, 7, 1, 3, 5)).toEqual({ from: 0, to: 3 });
  });

  it("remembers the last 1024 sessions", () => {
    const acks = new AckTracker();
    for (let processId = 1; processId <= 1025; processId += 1) heard(acks, processId, 1, 0, 1);
    expect(acks.positions.map(({ processId }) => processId)).toEqual(
      Array.from({ length: 1024 }, (_, index) => index + 2),
    );
  });
});
