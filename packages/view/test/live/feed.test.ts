import { describe, expect, it } from "vitest";
import { PART_BYTES, QUIET_MS, SKIPPED_TO_BYTES, VIEWED_OUTPUT_BYTES } from "../../src/limits.js";
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

describe("output that a page reads", () => {
  it("comes as frames with the number of the session, as long as all of it is kept", async () => {
    const { feed } = openFeed();
    append(feed, 0, 1);
    await feed.read(0, never);
    append(feed, PART_BYTES, PARTS - 1);
    for (let at = 0; at < PARTS; at++) {
      const { from, to, frame, gap, isBusy } = (await feed.read(at * PART_BYTES, never))!;
      expect({ from, to, gap, isBusy }).toEqual({
        from: at * PART_BYTES,
        to: (at + 1) * PART_BYTES,
        gap: undefined,
        isBusy: true,
      });
      const { session, offset, bytes } = decodeFrame(frame!.buffer);
      expect([session, offset, bytes.length, bytes[0], bytes.at(-1)]).toEqual([
        3,
        from,
        PART_BYTES,
        at % 251,
        at % 251,
      ]);
    }
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
    expect(await feed.read(0, never)).toMatchObject({ from: 0, to: 2 * PART_BYTES, gap: "gone", isBusy: false });
    expect(await feed.read(2 * PART_BYTES, never)).toMatchObject({ to: 3 * PART_BYTES, gap: undefined });
  });
});
