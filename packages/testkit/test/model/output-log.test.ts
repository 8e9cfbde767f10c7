import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createOutputLog, type OutputChunk, type OutputLogLimits, type WritableOutputLog } from "@codex/exec-backend";
import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { check } from "../fuzz/support.js";
import { OutputLogModel } from "./output-log-model.js";

let spillDir: string;
beforeAll(() => {
  spillDir = mkdtempSync(join(tmpdir(), "output-log-model-"));
});
afterAll(() => rmSync(spillDir, { recursive: true }));

/** The byte at each offset is known, so one that is lost, repeated or moved is seen. */
const byteAt = (offset: number): number => (offset * 31 + (offset >> 8) * 7) % 256;
const bytesOf = (from: number, to: number): Buffer =>
  Buffer.from(Array.from({ length: to - from }, (_, index) => byteAt(from + index)));

type Step =
  | { do: "append" | "skip"; length: number }
  | { do: "read" | "read later" | "evicted"; from: number; length: number }
  | { do: "follow"; from: number; windowBytes: number }
  | { do: "take" | "leave" | "release"; which: number }
  | { do: "hold"; behind: number; windowBytes: number }
  | { do: "offset"; seq: number }
  | { do: "settle" | "finish" | "close" };

const size = fc.integer({ min: 1, max: 40 });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ do: fc.constant("append" as const), length: size }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("skip" as const), length: fc.integer({ min: 1, max: 200 }) }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constantFrom("read" as const, "read later" as const, "evicted" as const),
      from: fc.nat({ max: 500 }),
      length: fc.nat({ max: 500 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant("follow" as const), from: fc.nat({ max: 300 }), windowBytes: size }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constantFrom("take" as const, "take" as const, "leave" as const, "release" as const),
      which: fc.nat({ max: 5 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("hold" as const), behind: fc.nat({ max: 50 }), windowBytes: size }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("offset" as const), seq: fc.nat({ max: 60 }) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("settle" as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom("finish" as const, "close" as const) }) },
);

interface Follower {
  iterator: AsyncIterator<OutputChunk>;
  position: number;
}

/** A log and what it should be, taken through the same steps. */
class Run {
  readonly #log: WritableOutputLog;
  readonly #model: OutputLogModel;
  readonly #followers: Follower[] = [];
  readonly #holds: { from: number; windowBytes: number; release(): void }[] = [];
  readonly #later: Promise<void>[] = [];
  #paused = false;
  #closed = false;

  constructor(limits: OutputLogLimits, canSpill: boolean) {
    this.#model = new OutputLogModel(limits, canSpill);
    this.#log = createOutputLog(limits, (pause) => {
      expect(pause).not.toBe(this.#paused);
      this.#paused = pause;
    });
  }

  async apply(next: Step): Promise<void> {
    switch (next.do) {
      case "append":
        if (this.#model.complete) return;
        this.#log.append("stdout", bytesOf(this.#model.end, this.#model.end + next.length));
        this.#model.append(next.length);
        break;
      case "skip":
        if (this.#model.complete) return;
        this.#log.skip({ bytes: next.length, reason: "it was lost" });
        this.#model.skip(next.length);
        break;
      case "read":
        expect(await this.#read(next.from, next.length)).toEqual(this.#model.gaps(next.from, next.from + next.length));
        break;
      case "read later":
        this.#later.push(this.#readAcross(next.from, next.length));
        break;
      case "evicted":
        expect(this.#log.getEvicted(next.from, Math.min(next.from + next.length, this.#model.end))).toEqual(
          this.#model.gaps(next.from, next.from + next.length),
        );
        break;
      case "follow": {
        const { from, windowBytes } = next;
        const iterator = this.#log.follow({ from, windowBytes })[Symbol.asyncIterator]();
        this.#followers.push({ iterator, position: from });
        break;
      }
      case "take":
        await this.#take(this.#followers[next.which % Math.max(1, this.#followers.length)]);
        break;
      case "leave":
        await this.#followers.splice(next.which % Math.max(1, this.#followers.length), 1)[0]?.iterator.return?.();
        break;
      case "hold": {
        const from = Math.max(0, this.#model.end - next.behind);
        const { windowBytes } = next;
        this.#holds.push({ from, windowBytes, release: this.#log.hold(from, windowBytes).release });
        break;
      }
      case "release":
        this.#holds.splice(next.which % Math.max(1, this.#holds.length), 1)[0]?.release();
        break;
      case "offset":
        expect(this.#log.offsetAfter(next.seq)).toBe(this.#model.offsetAfter(next.seq));
        break;
      case "settle":
        await Promise.all(this.#later.splice(0));
        break;
      case "finish":
        this.#log.finish();
        this.#model.complete = true;
        break;
      case "close":
        this.#log.close();
        this.#model.close();
        this.#closed = true;
        break;
    }
    this.#compare();
  }

  async end(): Promise<void> {
    await Promise.all(this.#later);
    this.#log.finish();
    for (const follower of this.#followers) {
      while (!(await this.#next(follower))) {}
      expect(follower.position).toBeGreaterThanOrEqual(this.#model.end);
    }
    for (const { release } of this.#holds.splice(0)) release();
    this.#followers.length = 0;
    expect(this.#paused).toBe(false);
    this.#log.close();
  }

  #compare(): void {
    const { end, lastSeq, complete } = this.#log;
    expect({ end, lastSeq, complete }).toEqual({
      end: this.#model.end,
      lastSeq: this.#model.lastSeq,
      complete: this.#model.complete,
    });
    const held = this.#holds.some(({ from, windowBytes }) => this.#model.countAfter(from) > windowBytes);
    if (held) expect(this.#paused).toBe(true);
    else if (this.#followers.length === 0) expect(this.#paused).toBe(false);
  }

  /** Checks every byte that is read; the ranges that are reported as evicted. */
  async #read(from: number, length: number): Promise<{ from: number; to: number }[]> {
    const { chunks, evicted } = await this.#log.read(from, from + length);
    let at = from;
    const gaps = [...evicted];
    for (const { offset, bytes } of chunks) {
      if (offset > at) expect(gaps.shift()).toEqual({ from: at, to: offset });
      expect(bytes).toEqual(bytesOf(offset, offset + bytes.length));
      at = offset + bytes.length;
    }
    const to = Math.max(from, Math.min(from + length, this.#model.end));
    if (gaps.length > 0) expect(gaps).toEqual([{ from: at, to: gaps[0]!.to }]);
    expect(gaps[0]?.to ?? at).toBeLessThanOrEqual(to);
    return evicted;
  }

  /** While more is written: what was kept when it began and is kept when it ends was read, nothing else is missing. */
  async #readAcross(from: number, length: number): Promise<void> {
    const { end } = this.#model;
    const before = this.#model.gaps(from, from + length);
    const evicted = await this.#read(from, length);
    const after = this.#model.gaps(from, Math.min(from + length, end));
    for (const gap of evicted) expect(after.some((gone) => gone.from <= gap.from && gone.to >= gap.to)).toBe(true);
    for (const gap of before) expect(evicted.some((gone) => gone.from <= gap.from && gone.to >= gap.to)).toBe(true);
  }

  async #take(follower: Follower | undefined): Promise<void> {
    if (follower === undefined || follower.position >= this.#model.end) return;
    const [gap] = this.#model.gaps(follower.position, this.#model.end);
    // After skipped bytes it waits for output.
    if (gap?.from === follower.position && gap.to === this.#model.end) return;
    await this.#next(follower);
  }

  /** True at the end. What is jumped over is gone for good. */
  async #next(follower: Follower): Promise<boolean> {
    const { value, done } = await follower.iterator.next();
    if (done === true) {
      expect(this.#model.gaps(follower.position, this.#model.end)).toEqual(
        follower.position >= this.#model.end ? [] : [{ from: follower.position, to: this.#model.end }],
      );
      follower.position = this.#model.end;
      return true;
    }
    const { offset, bytes } = value as OutputChunk;
    expect(offset).toBeGreaterThanOrEqual(follower.position);
    expect(bytes).toEqual(bytesOf(offset, offset + bytes.length));
    if (offset > follower.position && !this.#closed) {
      expect(this.#model.gaps(follower.position, offset)).toEqual([{ from: follower.position, to: offset }]);
    }
    follower.position = offset + bytes.length;
    return false;
  }
}

it("an output log is a plain array of bytes, with one range evicted and skipped ones missing", () =>
  check(
    fc.asyncProperty(
      fc.record({
        headBytes: fc.nat({ max: 80 }),
        tailBytes: fc.integer({ min: 1, max: 80 }),
        spillBytes: fc.constantFrom(0, 1, 50, 150, 10_000),
        canSpill: fc.boolean(),
      }),
      fc.array(step, { maxLength: 60, size: "max" }),
      async ({ canSpill, ...limits }, steps) => {
        const run = new Run({ ...limits, spillDir: canSpill ? spillDir : join(spillDir, "missing") }, canSpill);
        for (const next of steps) await run.apply(next);
        await run.end();
      },
    ),
    300,
  ));
