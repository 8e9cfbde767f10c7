import { Readable } from "node:stream";
import { setImmediate } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import { ReadTurns } from "../../src/output/read-turns.js";
import { readStream } from "../../src/output/stream-source.js";

const FULL_READ_BYTES = 64 * 1024;

it("reads a stream that fills as fast as it is emptied once per turn of the event loop", async () => {
  const bytes = Buffer.alloc(FULL_READ_BYTES);
  const endless = new Readable({
    read() {
      this.push(bytes);
    },
  });
  let reads = 0;
  const source = readStream(endless, new ReadTurns(), { onBytes: () => reads++, onEnd() {} });
  onTestFinished(() => source.close());
  while (reads === 0) await setImmediate();
  expect(reads).toBe(1);
  while (reads === 1) await setImmediate();
  expect(reads).toBe(2);
});
