import { expect, it } from "vitest";
import { CHUNK_SLAB_BYTES } from "../../src/limits.js";
import { ChunkMemory } from "../../src/output/chunk-memory.js";
import { PipeChunks } from "../../src/output/pipe-chunks.js";

const LARGEST_BYTES = 4 * CHUNK_SLAB_BYTES;
const open = () => new PipeChunks(new ChunkMemory(CHUNK_SLAB_BYTES), LARGEST_BYTES);

it("makes a chunk of a large read without copying it", () => {
  const chunks = open();
  const slab = chunks.take();
  expect(slab.length).toBe(LARGEST_BYTES);
  const chunk = chunks.fill(slab, LARGEST_BYTES / 2 + 1);
  expect([chunk.length, chunk.buffer === slab.buffer]).toEqual([LARGEST_BYTES / 2 + 1, true]);
});

it.each([1, 3 * 1024, CHUNK_SLAB_BYTES, CHUNK_SLAB_BYTES + 1, LARGEST_BYTES / 2])(
  "copies one of %d bytes, whose slab is free again",
  (size) => {
    const chunks = open();
    const slab = chunks.take().fill("x");
    const chunk = chunks.fill(slab, size);
    expect(chunks.take().buffer).toBe(slab.buffer);
    slab.fill("y");
    expect(chunk.equals(Buffer.alloc(size, "x"))).toBe(true);
    // At most half of the memory of a chunk is empty.
    if (size > CHUNK_SLAB_BYTES / 2) expect(chunk.buffer.byteLength).toBeLessThan(2 * size);
  },
);

it("reuses the memory of released chunks of every size", () => {
  const chunks = open();
  for (const size of [CHUNK_SLAB_BYTES, 2 * CHUNK_SLAB_BYTES, LARGEST_BYTES]) {
    const chunk = chunks.copy(Buffer.alloc(size));
    expect(chunks.release(chunk)).toBe(true);
    expect(chunks.copy(Buffer.alloc(size)).buffer).toBe(chunk.buffer);
  }
  expect(chunks.release(chunks.copy(Buffer.alloc(100)))).toBe(false);
});
