import { closeSync, constants, openSync, writeSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { createNative, type NativeOptions, readPipe } from "../../src/index.js";
import { MAX_ENLARGED_PIPES } from "../../src/limits.js";

const SYSTEM_BYTES = 64 * 1024;
const LARGE_BYTES = 256 * 1024;

/** As much as the pipe takes; the end for writing is closed then. */
function fill(write: number, content: Buffer): number {
  const unblocked = openSync(`/proc/self/fd/${write}`, constants.O_WRONLY | constants.O_NONBLOCK);
  const written = writeSync(unblocked, content);
  closeSync(unblocked);
  closeSync(write);
  return written;
}

describe.runIf(process.platform === "linux")("a pipe", () => {
  const content = Buffer.from(Array.from({ length: 2 * LARGE_BYTES }, (_, at) => at % 251));

  it.each<[string, NativeOptions, number]>([
    ["of the system's capacity", {}, SYSTEM_BYTES],
    ["that was enlarged", { outputPipeBytes: LARGE_BYTES }, LARGE_BYTES],
  ])("for output, %s, is emptied by one read, into one chunk", async (_name, options, capacity) => {
    const native = createNative(undefined, options);
    const { read, write } = native.openOutputPipe();
    expect(fill(write, content)).toBe(capacity);
    const chunks: Buffer[] = [];
    await new Promise<void>((onEnd) => {
      readPipe(read, native.readMemory, { onBytes: (chunk) => void chunks.push(chunk), onEnd });
    });
    expect(chunks.map(({ length }) => length)).toEqual([capacity]);
    expect(chunks[0]?.equals(content.subarray(0, capacity))).toBe(true);
  });

  it("is enlarged while few others are", () => {
    const native = createNative(undefined, { outputPipeBytes: LARGE_BYTES });
    const readers = Array.from({ length: MAX_ENLARGED_PIPES }, () => {
      const { read, write } = native.openOutputPipe();
      closeSync(write);
      return read;
    });
    const beyond = native.openOutputPipe();
    expect(fill(beyond.write, content)).toBe(SYSTEM_BYTES);
    closeSync(readers.pop()!);
    const next = native.openOutputPipe();
    expect(fill(next.write, content)).toBe(LARGE_BYTES);
    for (const fd of [...readers, beyond.read, next.read]) closeSync(fd);
  });

  it("for anything else has the system's capacity", () => {
    const { read, write } = createNative(undefined, { outputPipeBytes: LARGE_BYTES }).openPipe();
    expect(fill(write, content)).toBe(SYSTEM_BYTES);
    closeSync(read);
  });
});
