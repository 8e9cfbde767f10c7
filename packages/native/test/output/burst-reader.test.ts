import { expect, it } from "vitest";
import { BurstReader } from "../../src/output/burst-reader.js";
import { ChunkMemory } from "../../src/output/chunk-memory.js";

const BYTES = 100;

/** A reader whose source is a test: `arrive` ends the read that is under way. */
function open() {
  const told: string[] = [];
  let arrived: ((text: string) => void) | undefined;
  const source = {
    read: (into: Buffer, done: (bytes: number) => void) => {
      arrived = (text) => done(into.write(text));
    },
    close: () => void told.push("closed"),
  };
  const sink = {
    onBytes: (bytes: Buffer) => void told.push(bytes.toString()[0] ?? ""),
    onDrained: () => void told.push("over"),
  };
  const reader = new BurstReader(source, new ChunkMemory(BYTES), sink);
  const arrive = (text: string) => {
    const arrives = arrived;
    arrived = undefined;
    arrives?.(text);
  };
  return { reader, told, arrive, isReading: () => arrived !== undefined };
}

it("keeps reading while there is much data, and ends with the first small read", () => {
  const { told, arrive, isReading } = open();
  arrive("a".repeat(BYTES));
  arrive("b".repeat(51));
  expect([told, isReading()]).toEqual([["a", "b"], true]);
  arrive("c".repeat(50));
  expect([told, isReading()]).toEqual([["a", "b", "c", "closed", "over"], false]);
});

it("keeps data that was read ahead while it is paused, and reads no more", () => {
  const { reader, told, arrive, isReading } = open();
  reader.pause();
  arrive("a".repeat(BYTES));
  expect([told, isReading()]).toEqual([[], false]);
  reader.resume();
  expect([told, isReading()]).toEqual([["a"], true]);
  reader.pause();
  arrive("b");
  expect(told).toEqual(["a"]);
  reader.resume();
  expect(told).toEqual(["a", "b", "closed", "over"]);
});

it("delivers nothing after close, and returns the descriptor after the read in progress", () => {
  const { reader, told, arrive, isReading } = open();
  reader.close();
  reader.close();
  expect(told).toEqual([]);
  arrive("a".repeat(BYTES));
  expect([told, isReading()]).toEqual([["closed"], false]);
});
