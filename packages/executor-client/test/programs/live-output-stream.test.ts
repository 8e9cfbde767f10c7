import { type LiveOutput, QUEUED_PIECE_BYTES } from "@codex/executor-client";
import { expect, it } from "vitest";
import { UNREAD_OUTPUT_BYTES } from "../../src/limits.js";
import { LiveOutputStream } from "../../src/programs/live-output-stream.js";

const piece = (offset: number, text: string, sessionId = 1): LiveOutput => ({
  stream: "stdout",
  bytes: Buffer.from(text),
  offset,
  seq: offset + 1,
  sessionId,
});
/** As large as one that fits alone. */
const LARGE = UNREAD_OUTPUT_BYTES - QUEUED_PIECE_BYTES;
const isPending = async (promise: void | Promise<void>) =>
  (await Promise.race([Promise.resolve(promise).then(() => "settled"), Promise.resolve("pending")])) === "pending";
const describe = ({ bytes, dropped }: LiveOutput) => ({ text: `${bytes}`, dropped });

async function readAll(stream: LiveOutputStream): Promise<ReturnType<typeof describe>[]> {
  const read = [];
  for await (const output of stream) read.push(describe(output));
  return read;
}

it("holds the writer back until its piece was taken", async () => {
  const stream = new LiveOutputStream();
  const held = stream.push(piece(0, "a"));
  expect(await isPending(held)).toBe(true);
  expect((await stream.next()).value?.bytes.toString()).toBe("a");
  await held;
  const waiting = stream.next();
  expect(stream.push(piece(1, "b"))).toBeUndefined();
  expect((await waiting).value?.offset).toBe(1);
  const next = stream.push(piece(2, "c"));
  expect(await isPending(next)).toBe(true);
  stream.end();
  expect(await readAll(stream)).toEqual([{ text: "c", dropped: undefined }]);
});

it("keeps what fits for a loop that begins after its result was asked for, and reports the rest", async () => {
  const stream = new LiveOutputStream();
  const held = stream.push(piece(0, "first"));
  stream.stopHolding("while read");
  await held;
  const large = "x".repeat(LARGE - QUEUED_PIECE_BYTES - 5);
  expect(stream.push(piece(5, large))).toBeUndefined();
  for (let offset = LARGE; offset < LARGE + 1000; offset += 10) {
    expect(stream.push(piece(offset, "0123456789"))).toBeUndefined();
  }
  await stream.next();
  void stream.push(piece(LARGE + 1000, "last"));
  stream.end();
  expect(await readAll(stream)).toEqual([
    { text: large, dropped: undefined },
    { text: "last", dropped: { from: LARGE, to: LARGE + 1000 } },
  ]);
});

it("reports what did not fit by an empty piece where no other follows, for each session", async () => {
  const stream = new LiveOutputStream();
  stream.stopHolding("while read");
  const large = "x".repeat(LARGE);
  for (const session of [1, 2]) for (const offset of [0, large.length]) void stream.push(piece(offset, large, session));
  stream.end();
  const read = await readAll(stream);
  expect(read.map(({ text, dropped }) => [text.length, dropped])).toEqual([
    [large.length, undefined],
    [0, { from: large.length, to: 2 * large.length }],
    [0, { from: 0, to: 2 * large.length }],
  ]);
});

it("lets go of the writer when the loop is left", async () => {
  const stream = new LiveOutputStream();
  const held = stream.push(piece(0, "a"));
  for await (const output of stream) {
    expect(output.offset).toBe(0);
    break;
  }
  await held;
  expect(stream.push(piece(1, "b"))).toBeUndefined();
  expect(await stream.next()).toEqual({ done: true, value: undefined });
});

it("ends for whoever waits", async () => {
  const stream = new LiveOutputStream();
  const waiting = stream.next();
  stream.end();
  expect(await waiting).toEqual({ done: true, value: undefined });
  expect(stream.push(piece(0, "late"))).toBeUndefined();
});

it("stays bounded where nothing may be held back, also while it is read", async () => {
  const stream = new LiveOutputStream();
  const held = stream.push(piece(0, "a"));
  await stream.next();
  await held;
  stream.stopHolding("never");
  for (let index = 0; index < 4; index++) {
    const pushed = stream.push(piece(1 + index * LARGE, "x".repeat(LARGE)));
    expect(pushed).toBeUndefined();
  }
  stream.end();
  const read = await readAll(stream);
  expect(read.map(({ dropped }) => dropped)).toEqual([undefined, { from: 1 + LARGE, to: 1 + 4 * LARGE }]);
});
