import { describe, expect, it } from "vitest";
import { joinBytes, STDIO, useBackend } from "./support.js";

/** More than any kernel buffer holds, written in a burst just before the exit: where output used to be lost. */
const BURST_BYTES = 300_000;
const RUNS = 60;
const AT_ONCE = 4;

describe.each(STDIO)("output on $kind", (stdio) => {
  const host = useBackend();

  it(`keeps every byte of a burst at exit, ${RUNS} times`, async () => {
    let left = RUNS;
    const ends: number[] = [];
    const worker = async () => {
      while (left-- > 0) {
        const process = await host.run(["sh", "-c", `head -c ${BURST_BYTES} /dev/zero | tr '\\0' a`], { stdio });
        await process.closed;
        const { chunks, evicted } = await process.log.read(0);
        expect(evicted).toEqual([]);
        ends.push(joinBytes(chunks).length);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    expect(ends).toEqual(Array(RUNS).fill(BURST_BYTES));
  });

  it("keeps what a background child writes after the exit, to its last byte", async () => {
    const script = `trap '' HUP; (while kill -0 $$ 2>/dev/null; do sleep 0.01; done; head -c ${BURST_BYTES} /dev/zero) & exit 0`;
    const process = await host.run(["sh", "-c", script], { stdio });
    await process.closed;
    expect(process.log.end).toBe(BURST_BYTES);
  });

  it("numbers no chunk that has no bytes", async () => {
    for (let run = 0; run < 20; run++) {
      const process = await host.run(["sh", "-c", "echo one; sleep 0.01; echo two"], { stdio });
      await process.closed;
      const { chunks } = await process.log.read(0);
      expect(chunks.map(({ bytes }) => bytes.length)).not.toContain(0);
      expect(chunks.map(({ seq }) => seq)).toEqual(chunks.map((_, index) => index + 1));
      expect(process.log.lastSeq).toBe(chunks.length);
    }
  });
});
