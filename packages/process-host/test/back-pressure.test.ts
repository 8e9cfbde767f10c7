import { describe, expect, it } from "vitest";
import { joinBytes, STDIO, useBackend } from "./support.js";

const TOTAL_BYTES = 40_000_000;
const WINDOW_BYTES = 128 * 1024;
/** One chunk may be read before the source is paused, and the kernel's buffer is not ours. */
const ONE_READ_BYTES = 64 * 1024;

describe.each(STDIO)("a flood on $kind", (stdio) => {
  const host = useBackend();
  // A terminal writes "\r\n" for each newline: zeros pass as they are.
  const flood = ["head", "-c", String(TOTAL_BYTES), "/dev/zero"];

  it("waits for a follower that stalls, and loses nothing", async () => {
    const process = await host.run(flood, { stdio });
    let position = 0;
    let longestLag = 0;
    for await (const chunk of process.log.follow({ windowBytes: WINDOW_BYTES })) {
      expect(chunk.offset).toBe(position);
      position += chunk.bytes.length;
      // Every tenth turn the reader lets the process run ahead as far as it can.
      if (chunk.seq % 10 === 0) await new Promise((resolve) => setImmediate(resolve));
      longestLag = Math.max(longestLag, process.log.end - position);
    }
    expect(position).toBe(TOTAL_BYTES);
    expect(longestLag).toBeLessThanOrEqual(WINDOW_BYTES + 2 * ONE_READ_BYTES);
  });

  it("is retained within its bounds when nobody follows, every byte kept or reported", async () => {
    const log = { headBytes: 100_000, tailBytes: 200_000, spillBytes: 1_000_000 };
    const process = await host.run(flood, { stdio, log });
    await process.closed;
    const { chunks, evicted } = await process.log.read(0);
    const kept = joinBytes(chunks).length;
    const gone = evicted.reduce((sum, range) => sum + range.to - range.from, 0);
    expect(kept + gone).toBe(TOTAL_BYTES);
    expect(kept).toBeLessThanOrEqual(100_000 + 200_000 + 1_000_000);
    expect(kept).toBeGreaterThan(1_000_000);
    expect(evicted.length).toBe(1);
    process.dispose();
  });
});
