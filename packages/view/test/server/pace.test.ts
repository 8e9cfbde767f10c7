import { expect, it } from "vitest";
import {
  FLOOD_BYTES_PER_SECOND,
  FLOOD_PART_BYTES,
  MIN_PACED_BYTES_PER_SECOND,
  PACED_BURST_BYTES,
  PACED_BYTES_PER_SECOND,
  PACED_PIECE_BYTES,
} from "../../src/limits.js";
import { Pace } from "../../src/server/pace.js";

it("sends a burst at once, and from then on what the rate allows", () => {
  const clock = { now: 0 };
  const pace = new Pace(
    () => 1,
    () => clock.now,
  );
  expect(pace.spend(PACED_BURST_BYTES - 1, "busy")).toBe(0);
  let sent = 1;
  pace.spend(1, "busy");
  while (clock.now < 60_000) {
    clock.now += pace.spend(PACED_PIECE_BYTES, "busy");
    sent += PACED_PIECE_BYTES;
  }
  expect(sent / (clock.now / 1000)).toBeLessThanOrEqual(PACED_BYTES_PER_SECOND * 1.01);
  expect(sent / (clock.now / 1000)).toBeGreaterThan(PACED_BYTES_PER_SECOND * 0.9);
});

it("shares the rate among pages, down to what each gets at least", () => {
  const waits = [1, 2, 1_000_000].map((pages) => {
    const pace = new Pace(
      () => pages,
      () => 0,
    );
    return pace.spend(PACED_BURST_BYTES, "busy");
  });
  const [one, two, many] = waits as [number, number, number];
  expect(two).toBe(2 * one);
  expect(many).toBe((PACED_PIECE_BYTES / MIN_PACED_BYTES_PER_SECOND) * 1000);
});

it("sends less of what a page cannot follow, without a burst", () => {
  const clock = { now: 0 };
  const pace = new Pace(
    () => 1,
    () => clock.now,
  );
  const waits = Array.from({ length: 8 }, () => {
    const wait = pace.spend(FLOOD_PART_BYTES, "flood");
    clock.now += wait;
    return Math.round(wait);
  });
  expect(waits).toEqual(waits.map(() => Math.round((FLOOD_PART_BYTES / FLOOD_BYTES_PER_SECOND) * 1000)));
});
