import { closeSync, constants, openSync, writeSync } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import { createNative, readPipe } from "../../src/index.js";

const PIPE_BYTES = 64 * 1024;

/** A pipe that is read, and its end for writing, which does not block. */
function openPipe(onBytes: (bytes: Buffer) => void = () => {}, native = createNative()) {
  const { read, write } = native.openPipe();
  const end = openSync(`/proc/self/fd/${write}`, constants.O_WRONLY | constants.O_NONBLOCK);
  closeSync(write);
  const got: Buffer[] = [];
  let onEnd = () => {};
  const ended = new Promise<void>((resolve) => {
    onEnd = resolve;
  });
  const take = (bytes: Buffer) => {
    got.push(Buffer.from(bytes));
    onBytes(bytes);
  };
  const source = readPipe(read, native.readMemory, { onBytes: take, onEnd });
  return {
    source,
    ended,
    end,
    count: () => got.reduce((sum, { length }) => sum + length, 0),
    all: () => Buffer.concat(got),
  };
}

const until = async (done: () => boolean) => {
  while (!done()) await nextTurn();
};

it.runIf(process.platform === "linux")("delivers floods, single bytes and what comes last, in order", async () => {
  const pipe = openPipe();
  const sent: Buffer[] = [];
  for (const size of [PIPE_BYTES, 1, PIPE_BYTES, PIPE_BYTES, 5000, 1, PIPE_BYTES - 1, 1]) {
    const bytes = Buffer.alloc(size, sent.length + 1);
    writeSync(pipe.end, bytes);
    sent.push(bytes);
    const total = sent.reduce((sum, { length }) => sum + length, 0);
    await until(() => pipe.count() === total);
  }
  const last = Buffer.alloc(PIPE_BYTES, "z");
  writeSync(pipe.end, last);
  closeSync(pipe.end);
  await pipe.ended;
  expect(pipe.all().equals(Buffer.concat([...sent, last]))).toBe(true);
});

it.runIf(process.platform === "linux")("reads nothing while paused in a flood, and goes on after it", async () => {
  let pauses = 0;
  const pipe = openPipe(() => {
    pauses += 1;
    pipe.source.pause();
  });
  const more = Buffer.alloc(PIPE_BYTES, "x");
  let total = 0;
  for (let round = 1; round <= 4; round++) {
    total += writeSync(pipe.end, more);
    await until(() => pauses === round);
    expect(pipe.count()).toBe(total);
    const waiting = writeSync(pipe.end, more);
    for (let turn = 0; turn < 5; turn++) await nextTurn();
    expect(pipe.count()).toBe(total);
    pipe.source.resume();
    await until(() => pipe.count() === total + waiting);
    total += waiting;
    pauses = round;
    pipe.source.resume();
  }
  pipe.source.close();
  await pipe.ended;
  closeSync(pipe.end);
});

it.runIf(process.platform === "linux")("delivers nothing once it is closed in a flood", async () => {
  const pipe = openPipe(() => pipe.source.close());
  writeSync(pipe.end, Buffer.alloc(PIPE_BYTES));
  await pipe.ended;
  expect(pipe.count()).toBe(PIPE_BYTES);
  expect(() => writeSync(pipe.end, "more")).toThrow("EPIPE");
  closeSync(pipe.end);
});

it.runIf(process.platform === "linux")("says when a program begins to write much", async () => {
  let floods = 0;
  const onFlood = () => {
    floods += 1;
  };
  const pipe = openPipe(undefined, createNative(undefined, { onFlood }));
  writeSync(pipe.end, Buffer.alloc(PIPE_BYTES - 1));
  await until(() => pipe.count() === PIPE_BYTES - 1);
  expect(floods).toBe(0);
  writeSync(pipe.end, Buffer.alloc(PIPE_BYTES));
  closeSync(pipe.end);
  await pipe.ended;
  expect(pipe.count()).toBe(2 * PIPE_BYTES - 1);
  expect(floods).toBe(1);
});
