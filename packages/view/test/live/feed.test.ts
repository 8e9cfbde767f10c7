import { describe, expect, it } from "vitest";
import {
  AHEAD_MS,
  FLOOD_PART_BYTES,
  KEPT_FLOOD_BYTES,
  KEPT_FLOOD_MS,
  KEPT_OUTPUT_BYTES,
  PART_BYTES,
  QUIET_MS,
  SKIPPED_TO_BYTES,
  VIEWED_OUTPUT_BYTES,
} from "../../src/limits.js";
import { Feed } from "../../src/live/feed.js";
import { decodeFrame } from "../../src/wire/frame.js";

const never = new AbortController().signal;

/** A session whose output calls bring, and of which the executor retains nothing. */
function openFeed() {
  const clock = { now: 0 };
  const feed = new Feed(3, {
    read: async () => ({ kind: "gone" }),
    learned: () => {},
    pause: async () => {},
    now: () => clock.now,
  });
  feed.follow();
  return { feed, clock };
}

/** Each byte says in which part it lies. */
function append(feed: Feed, offset: number, parts: number): void {
  for (let at = 0; at < parts; at++) {
    const part = new Uint8Array(PART_BYTES).fill((offset / PART_BYTES + at) % 251);
    feed.append(offset + at * PART_BYTES, part, 0);
  }
}

const PARTS = VIEWED_OUTPUT_BYTES / PART_BYTES;

it("waits for output of a session once, for all pages that read it", async () => {
  const reads: { from: number; signal: AbortSignal; end: (bytes: string) => void }[] = [];
  const feed = new Feed(3, {
    read: ({ from }, signal) =>
      new Promise((resolve) => {
        const end = (bytes: string) => {
          const data = Buffer.from(bytes);
          const chunks = bytes === "" ? [] : [{ offset: from, data: data.toString("base64"), at: 0 }];
          const output = { chunks, gone: [], end: from + data.length, closed: false, outcome: { kind: "running" } };
          resolve({
            kind: "output",
            output: { ...output, startedAt: 0, range: { from, to: from + data.length } } as never,
          });
        };
        signal.addEventListener("abort", () => end(""));
        reads.push({ from, signal, end });
      }),
    learned: () => {},
    pause: async () => {},
    now: () => 0,
  });
  const [first, ...others] = Array.from({ length: 8 }, () => new AbortController());
  const leaving = feed.read(0, first!.signal);
  const pages = others.map(({ signal }) => feed.read(0, signal));
  expect(reads).toHaveLength(1);
  first!.abort();
  expect(await leaving).toBeUndefined();
  await expect.poll(() => reads.length).toBe(2);
  reads[1]!.end("hello");
  expect((await Promise.all(pages)).map((part) => part?.to)).toEqual(pages.map(() => 5));
  feed.close();
});

describe("output that a page reads", () => {
  it("comes as frames with the number of the session, as long as all of it is kept", async () => {
    const { feed, clock } = openFeed();
    append(feed, 0, 1);
    await feed.read(0, never);
    append(feed, PART_BYTES, PARTS - 1);
    const sizes = new Map<string, Set<number>>();
    let end = 0;
    while (end < VIEWED_OUTPUT_BYTES) {
      const { from, to, frame, gap, pace } = (await feed.read(end, never))!;
      expect({ from, gap }).toEqual({ from: end, gap: undefined });
      const { session, offset, bytes } = decodeFrame(frame!.buffer);
      expect([session, offset, bytes.length]).toEqual([3, from, to - from]);
      expect(bytes[0]).toBe(Math.floor(from / PART_BYTES) % 251);
      sizes.set(pace, (sizes.get(pace) ?? new Set()).add(bytes.length));
      end = to;
    }
    expect(sizes).toEqual(new Map([["flood", new Set([FLOOD_PART_BYTES])]]));
    clock.now = QUIET_MS;
    expect(await feed.read(0, never)).toMatchObject({ to: PART_BYTES, pace: "none" });
  });

  it("skips to the newest, with the range, when the program is too far ahead and goes on writing", async () => {
    const { feed } = openFeed();
    append(feed, 0, 1);
    await feed.read(0, never);
    append(feed, PART_BYTES, PARTS + 1);
    const to = VIEWED_OUTPUT_BYTES + 2 * PART_BYTES - SKIPPED_TO_BYTES;
    expect(await feed.read(PART_BYTES, never)).toMatchObject({
      from: PART_BYTES,
      to,
      gap: "skipped",
      frame: undefined,
    });
    expect(await feed.read(to, never)).toMatchObject({ from: to, gap: undefined });
  });

  it("is read to its end from what is kept, with what is not there any more as a gap, once the program is quiet", async () => {
    const { feed, clock } = openFeed();
    append(feed, 0, 1);
    await feed.read(0, never);
    append(feed, PART_BYTES, PARTS + 1);
    clock.now = QUIET_MS;
    expect(await feed.read(0, never)).toMatchObject({ from: 0, to: 2 * PART_BYTES, gap: "gone", pace: "none" });
    expect(await feed.read(2 * PART_BYTES, never)).toMatchObject({ to: 3 * PART_BYTES, gap: undefined });
  });
});

describe("output that no page reads", () => {
  it("is kept while a program writes slowly, and in a flood only the newest of it", () => {
    const part = new Uint8Array(KEPT_FLOOD_BYTES / 2);
    const kept = [KEPT_FLOOD_MS, 0].map((msBetween) => {
      const { feed } = openFeed();
      for (let at = 0; at < 100; at++) feed.append(at * part.length, part, at * msBetween);
      return feed.kept.bytes;
    });
    expect(kept).toEqual([KEPT_OUTPUT_BYTES, KEPT_FLOOD_BYTES]);
  });

  it("is no longer kept for a page that left", async () => {
    const { feed } = openFeed();
    append(feed, 0, 1);
    await feed.read(0, never);
    append(feed, PART_BYTES, PARTS - 1);
    expect(feed.kept.bytes).toBe(VIEWED_OUTPUT_BYTES);
    feed.append(VIEWED_OUTPUT_BYTES, new Uint8Array(1), AHEAD_MS + 1);
    expect(feed.kept.bytes).toBeLessThanOrEqual(KEPT_OUTPUT_BYTES);
  });

  it("is no longer kept for a page whose reading failed", async () => {
    const clock = { now: 0 };
    const feed = new Feed(3, {
      read: () => Promise.reject(new Error("broken")),
      learned: () => {},
      pause: async () => {},
      now: () => clock.now,
    });
    await expect(feed.read(0, never)).rejects.toThrow("broken");
    feed.append(0, new Uint8Array(1), AHEAD_MS + 1);
    expect(feed.kept.reading).toBe("none");
  });
});
