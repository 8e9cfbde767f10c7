import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { joinBytes } from "../../../process-host/test/support.js";
import { MAX_LENT_BYTES, type OutputLogLimits } from "../../src/limits.js";
import { createOutputLog, type WritableOutputLog } from "../../src/output-log/output-log.js";

let spillDir: string;
beforeEach(() => {
  spillDir = mkdtempSync(join(tmpdir(), "output-log-"));
});
afterEach(() => rmSync(spillDir, { recursive: true }));

const limits = (part: Partial<OutputLogLimits> = {}): OutputLogLimits => ({
  headBytes: 8,
  tailBytes: 8,
  spillBytes: 0,
  spillDir,
  ...part,
});
/** Bytes whose values depend on their offset. */
const piece = (from: number, length: number) => Buffer.from(Array.from({ length }, (_, index) => (from + index) % 251));
const fill = (log: WritableOutputLog, total: number, size = 4) => {
  for (let offset = log.end; offset < total; offset += size) log.append("stdout", piece(offset, size));
};

describe("an output log", () => {
  it("numbers chunks from 1 and counts bytes over all streams", () => {
    const log = createOutputLog(limits());
    log.append("stdout", Buffer.from("abc"));
    log.append("stderr", Buffer.from("de"));
    expect([log.lastSeq, log.end, log.complete]).toEqual([2, 5, false]);
    log.finish();
    expect(log.complete).toBe(true);
  });

  it("keeps the time at which each chunk was read, also in the spill file", async () => {
    let now = 0.9;
    const log = createOutputLog(limits({ spillBytes: 1024 }), undefined, () => now);
    for (let index = 0; index < 10; index += 1, now += 10) log.append("stdout", piece(index * 4, 4));
    const { chunks } = await log.read(2);
    expect(chunks.map(({ at }) => at)).toEqual([0, 10, 20, 30, 40, 50, 60, 70, 80, 90]);
    log.close();
  });

  it("keeps the beginning and the end, and reports evicted ranges", async () => {
    const log = createOutputLog(limits());
    fill(log, 40);
    const { chunks, evicted } = await log.read(0);
    expect(chunks.map((chunk) => [chunk.seq, chunk.offset, chunk.bytes.length])).toEqual([
      [1, 0, 4],
      [2, 4, 4],
      [9, 32, 4],
      [10, 36, 4],
    ]);
    expect(evicted).toEqual([{ from: 8, to: 32 }]);
  });

  it.each([
    [0, 40, [[8, 32]]],
    [2, 6, []],
    [6, 20, [[8, 20]]],
    [10, 20, [[10, 20]]],
    [20, 34, [[20, 32]]],
    [33, 39, []],
    [40, 40, []],
    [50, 60, []],
    [0, 1000, [[8, 32]]],
  ])("reads [%d, %d) with the ranges %j missing, every byte accounted for", async (from, to, missing) => {
    const log = createOutputLog(limits());
    fill(log, 40);
    const { chunks, evicted } = await log.read(from, to);
    expect(evicted).toEqual(missing.map(([a, b]) => ({ from: a, to: b })));
    expect(log.getEvicted(from, Math.min(to, log.end))).toEqual(evicted);
    for (const chunk of chunks) expect(chunk.bytes).toEqual(piece(chunk.offset, chunk.bytes.length));
    const bytes = joinBytes(chunks).length + evicted.reduce((sum, gap) => sum + gap.to - gap.from, 0);
    expect(bytes).toBe(Math.max(0, Math.min(to, 40) - from));
  });

  it("reads evicted chunks from the spill file, which has no name", async () => {
    const log = createOutputLog(limits({ spillBytes: 1_000 }));
    fill(log, 400);
    expect(readdirSync(spillDir)).toEqual([]);
    for (const [from, to] of [
      [0, 400],
      [9, 11],
      [100, 395],
    ] as const) {
      const { chunks, evicted } = await log.read(from, to);
      expect(evicted).toEqual([]);
      expect(joinBytes(chunks)).toEqual(piece(from, to - from));
    }
    log.close();
  });

  it("bounds the spill file, keeps the first chunks and reports the rest as evicted", async () => {
    const log = createOutputLog(limits({ spillBytes: 100 }));
    fill(log, 400);
    const { chunks, evicted } = await log.read(0);
    expect(evicted).toEqual([{ from: 108, to: 392 }]);
    expect(log.getEvicted(0)).toEqual(evicted);
    expect(joinBytes(chunks).length).toBe(116);
    log.close();
  });

  it("works without a spill file where none can be created", async () => {
    const log = createOutputLog(limits({ spillBytes: 100, spillDir: join(spillDir, "missing") }));
    fill(log, 40);
    expect((await log.read(0)).evicted).toEqual([{ from: 8, to: 32 }]);
    log.close();
  });

  it("bounds the number of small chunks", async () => {
    const log = createOutputLog(limits({ headBytes: 0, tailBytes: 1_000_000 }));
    for (let index = 0; index < 50_010; index += 1) log.append("stdout", Buffer.from("x"));
    const { chunks, evicted } = await log.read(0);
    expect(chunks.length).toBe(50_000);
    expect(evicted).toEqual([{ from: 0, to: 10 }]);
  });

  describe("that lends its chunks", () => {
    const open = () => {
      const dropped: number[] = [];
      const onDropped = (bytes: Buffer) => dropped.push(bytes[0]!);
      const log = createOutputLog(limits({ headBytes: 0, lendsChunks: true }), undefined, undefined, onDropped);
      return { log, dropped };
    };

    it("returns the memory of evicted chunks", () => {
      const { log, dropped } = open();
      fill(log, 20);
      expect(dropped).toEqual([0, 4, 8]);
    });

    it("returns the memory of chunks that the spill file rejects", () => {
      const dropped: number[] = [];
      const lending = limits({ headBytes: 0, spillBytes: 8, lendsChunks: true });
      const log = createOutputLog(lending, undefined, undefined, (bytes) => dropped.push(bytes[0]!));
      fill(log, 24);
      expect(dropped).toEqual([8, 12]);
      log.close();
    });

    it("keeps chunks that were read, and returns the memory of later ones", async () => {
      const { log, dropped } = open();
      fill(log, 8);
      const { chunks } = await log.read(0);
      fill(log, 20);
      expect(dropped).toEqual([8]);
      expect(joinBytes(chunks)).toEqual(piece(0, 8));
    });

    it("keeps the chunk that a follower has until it asks for the next one", async () => {
      const { log, dropped } = open();
      fill(log, 8);
      const follower = log.follow()[Symbol.asyncIterator]();
      await follower.next();
      fill(log, 12);
      expect(dropped).toEqual([]);
      await follower.next();
      await follower.next();
      fill(log, 16);
      expect(dropped).toEqual([0, 4]);
      await follower.return?.();
    });

    it("returns the memory of evicted chunks as a pin passes them, and of all at its end", () => {
      const { log, dropped } = open();
      const pin = log.pin?.(0);
      fill(log, 24);
      expect(dropped).toEqual([]);
      expect(log.isPaused).toBe(false);
      pin?.move(7);
      expect(dropped).toEqual([0]);
      pin?.move(8);
      expect(dropped).toEqual([0, 4]);
      pin?.release();
      expect(dropped).toEqual([0, 4, 8, 12]);
    });

    it("returns no memory any more where what a pin kept is never known to be unused", () => {
      const { log, dropped } = open();
      const pin = log.pin?.(0);
      fill(log, 16);
      pin?.keepAll();
      pin?.release();
      fill(log, 24);
      expect(dropped).toEqual([]);
    });

    it("leaves what waits for a pin to the garbage collector beyond a limit", () => {
      const dropped: number[] = [];
      const unlimited = { headBytes: 0, tailBytes: 1, spillBytes: 0, spillDir: "", lendsChunks: true };
      const log = createOutputLog(unlimited, undefined, undefined, ({ length }) => dropped.push(length));
      const pin = log.pin?.(0);
      const chunk = Buffer.alloc(1024);
      for (let bytes = 0; bytes < 2 * MAX_LENT_BYTES; bytes += chunk.length) log.append("stdout", chunk);
      pin?.release();
      expect(dropped).toHaveLength(MAX_LENT_BYTES / chunk.length);
    });

    it("returns no memory without lendsChunks", () => {
      const dropped: Buffer[] = [];
      fill(
        createOutputLog(limits({ headBytes: 0 }), undefined, undefined, (bytes) => dropped.push(bytes)),
        20,
      );
      expect(dropped).toEqual([]);
    });
  });

  it("wakes a waiter at the next chunk, at completion, or when it is aborted", async () => {
    const log = createOutputLog(limits());
    const waited = log.waitFor(0);
    log.append("stdout", piece(0, 1));
    await waited;
    await log.waitFor(0);
    const abort = new AbortController();
    const aborted = log.waitFor(1, abort.signal);
    abort.abort();
    await aborted;
    const finished = log.waitFor(1);
    log.finish();
    await finished;
  });

  it("pauses the source while a follower lags, and resumes it when it has caught up", async () => {
    const pressure: boolean[] = [];
    const log = createOutputLog(limits({ tailBytes: 64 }), (pause) => pressure.push(pause));
    const follower = log.follow({ windowBytes: 16 })[Symbol.asyncIterator]();
    const first = follower.next();
    fill(log, 16);
    expect(pressure).toEqual([]);
    fill(log, 20);
    expect(pressure).toEqual([true]);
    expect((await first).value).toMatchObject({ offset: 0 });
    await follower.next(); // asking for the next chunk acknowledges the first
    await follower.next();
    expect(pressure).toEqual([true, false]);
    await follower.return?.();
  });

  it("resumes the source when a follower leaves", async () => {
    const pressure: boolean[] = [];
    const log = createOutputLog(limits({ tailBytes: 64 }), (pause) => pressure.push(pause));
    const follower = log.follow({ windowBytes: 4 })[Symbol.asyncIterator]();
    const first = follower.next();
    fill(log, 16);
    await first;
    await follower.return?.();
    expect(pressure).toEqual([true, false]);
  });

  it("pauses the source for a hold, until released", () => {
    const pressure: boolean[] = [];
    const log = createOutputLog(limits(), (pause) => pressure.push(pause));
    fill(log, 20);
    const hold = log.hold(20, 6);
    fill(log, 24);
    expect(pressure).toEqual([]);
    fill(log, 28);
    expect(pressure).toEqual([true]);
    hold.release();
    hold.release();
    expect(pressure).toEqual([true, false]);
  });

  it.each([
    [0, 0],
    [1, 4],
    [2, 8],
    [3, 32], // chunks 3 to 8 left memory
    [8, 32],
    [9, 36],
    [10, 40],
    [99, 40],
  ])("finds the offset after chunk %d: %d", (seq, offset) => {
    const log = createOutputLog(limits());
    fill(log, 40);
    expect(log.offsetAfter(seq)).toBe(offset);
  });

  it("is followed from any offset to the end, through the spill file and over evicted ranges", async () => {
    const log = createOutputLog(limits({ spillBytes: 100 }));
    fill(log, 400);
    log.finish();
    const seen: [number, number][] = [];
    for await (const chunk of log.follow({ from: 2 })) {
      expect(chunk.bytes).toEqual(piece(chunk.offset, chunk.bytes.length));
      seen.push([chunk.offset, chunk.offset + chunk.bytes.length]);
    }
    expect(seen[0]?.[0]).toBe(2);
    expect(seen.at(-1)?.[1]).toBe(400);
    const gaps = seen.flatMap(([from], index) =>
      index > 0 && seen[index - 1]![1] !== from ? [[seen[index - 1]![1], from]] : [],
    );
    expect(gaps).toEqual([[108, 392]]);
    log.close();
  });

  it("stops following when its signal aborts", async () => {
    const log = createOutputLog(limits());
    const abort = new AbortController();
    const follower = log.follow({ signal: abort.signal })[Symbol.asyncIterator]();
    const next = follower.next();
    abort.abort();
    expect((await next).done).toBe(true);
  });
});
