import { Writable } from "node:stream";
import { expect, test } from "vitest";
import { TurnCork } from "../../src/queue/turn-cork.js";
import { turn } from "../support.js";

/** A cork over a stream, and the sizes of what was written in one system call each. */
function open() {
  const written: number[][] = [];
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      written.push([chunk.length]);
      done();
    },
    writev(chunks, done) {
      written.push(chunks.map(({ chunk }: { chunk: Buffer }) => chunk.length));
      done();
    },
  });
  const cork = new TurnCork(stream);
  const writeNext = (bytes: number) => {
    cork.holdNext(bytes);
    stream.write(Buffer.alloc(bytes));
  };
  const writeLater = (bytes: number) => {
    cork.holdLater(bytes);
    stream.write(Buffer.alloc(bytes));
  };
  const write = (bytes: number) => {
    cork.hold(bytes);
    stream.write(Buffer.alloc(bytes));
  };
  return { written, writeNext, writeLater, write };
}

test("joins what is written within a turn", async () => {
  const { written, write } = open();
  for (const bytes of [1, 2, 3]) write(bytes);
  expect(written).toEqual([]);
  await turn();
  expect(written).toEqual([[1, 2, 3]]);
});

test("writes a single write at once if it is the first of its turn", async () => {
  const { written, writeNext } = open();
  for (const bytes of [1, 2]) {
    writeNext(bytes);
    expect(written.at(-1)).toEqual([bytes]);
    await turn();
  }
  expect(written).toEqual([[1], [2]]);
});

test("holds the first write as well after a turn with several, until a turn has one", async () => {
  const { written, writeNext } = open();
  for (const bytes of [1, 2, 3]) writeNext(bytes);
  expect(written).toEqual([[1]]);
  await turn();
  for (const bytes of [4, 5]) writeNext(bytes);
  expect(written).toEqual([[1], [2, 3]]);
  await turn();
  writeNext(6);
  expect(written).toEqual([[1], [2, 3], [4, 5]]);
  await turn();
  writeNext(7);
  expect(written).toEqual([[1], [2, 3], [4, 5], [6], [7]]);
});

test("keeps the order of single writes and others, up to its bound", async () => {
  const { written, write, writeNext } = open();
  writeNext(1);
  write(2);
  writeNext(256 * 1024);
  write(3);
  await turn();
  expect(written).toEqual([[1], [2, 256 * 1024], [3]]);
});

test("writes the first message of every turn at once where later ones alone are held", async () => {
  const { written, writeLater } = open();
  for (const bytes of [1, 2, 3]) writeLater(bytes);
  await turn();
  for (const bytes of [4, 256 * 1024, 5]) writeLater(bytes);
  expect(written).toEqual([[1], [2, 3], [4], [256 * 1024]]);
  await turn();
  expect(written.at(-1)).toEqual([5]);
});
