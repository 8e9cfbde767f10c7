import { describe, expect, it } from "vitest";
import { Receipts } from "../../src/executors/receipts.js";

const heard = (receipts: Receipts, processId: number, seq: number, offset: number, bytes: number) =>
  receipts.noteOutput({
    requestId: "r",
    processId,
    seq,
    offset,
    stream: "stdout",
    bytes: Buffer.alloc(bytes),
    isContinued: false,
  }).gap;

describe("what was received", () => {
  it("is known up to an offset, and what is missing before one", () => {
    const receipts = new Receipts();
    expect(heard(receipts, 7, 1, 0, 5)).toBeUndefined();
    expect(heard(receipts, 7, 2, 5, 3)).toBeUndefined();
    expect(heard(receipts, 7, 5, 20, 1)).toEqual({ from: 8, to: 20 });
    expect(receipts.positions).toEqual([{ processId: 7, offset: 21 }]);
  });

  it("of one session is not what was received of another that has its id now", () => {
    const receipts = new Receipts();
    heard(receipts, 7, 1, 0, 500);
    expect(heard(receipts, 7, 1, 0, 5)).toBeUndefined();
    expect(receipts.positions).toEqual([{ processId: 7, offset: 5 }]);
    expect(heard(receipts, 7, 1, 3, 5)).toEqual({ from: 0, to: 3 });
  });

  it("is remembered of the last 1024 sessions", () => {
    const receipts = new Receipts();
    for (let processId = 1; processId <= 1025; processId += 1) heard(receipts, processId, 1, 0, 1);
    expect(receipts.positions.map(({ processId }) => processId)).toEqual(
      Array.from({ length: 1024 }, (_, index) => index + 2),
    );
  });
});
