import { expect, it } from "vitest";
import { createNative } from "../../src/index.js";
import { CHUNK_SLAB_BYTES } from "../../src/limits.js";
import { PipeBuffer } from "../../src/output/pipe-buffer.js";

const LARGE_BYTES = 4 * CHUNK_SLAB_BYTES;

it.each([CHUNK_SLAB_BYTES, LARGE_BYTES])("of %d bytes: reads that follow a large one are not copied", (bytes) => {
  const { readMemory } = createNative(undefined, { outputPipeBytes: bytes });
  const buffer = new PipeBuffer(readMemory);
  const shared = buffer.next();
  expect(shared).toBe(readMemory.pipeBuffer);
  expect(buffer.take(shared, bytes).buffer).not.toBe(shared.buffer);
  const first = buffer.next();
  expect([first.length, first === shared]).toEqual([bytes, false]);
  expect(buffer.take(first, bytes - 1).buffer).toBe(first.buffer);
  const second = buffer.next();
  expect(second.buffer).not.toBe(first.buffer);
  second.write("end");
  expect(buffer.take(second, 3).toString()).toBe("end");
  expect(buffer.next()).toBe(shared);
  // The slab of the small read is free again.
  expect(readMemory.largeChunks.take().buffer).toBe(second.buffer);
});

it("keeps no slab while a pipe is quiet or closed", () => {
  const { readMemory } = createNative();
  const buffer = new PipeBuffer(readMemory);
  buffer.take(buffer.next(), CHUNK_SLAB_BYTES);
  const slab = buffer.next();
  buffer.release();
  buffer.release();
  expect(readMemory.chunks.take().buffer).toBe(slab.buffer);
  expect(readMemory.chunks.take().buffer).not.toBe(slab.buffer);
});
