import { expect, it } from "vitest";
import { CHUNK_SLAB_BYTES, MAX_FREE_SLAB_BYTES } from "../../src/limits.js";
import { ChunkMemory } from "../../src/output/chunk-memory.js";

it("puts a large chunk into a slab, and reuses the slab once the chunk is released", () => {
  const memory = new ChunkMemory(CHUNK_SLAB_BYTES);
  const chunk = memory.copy(Buffer.alloc(CHUNK_SLAB_BYTES - 1, 1));
  expect([chunk.length, chunk.at(-1)]).toEqual([CHUNK_SLAB_BYTES - 1, 1]);
  expect(memory.take().buffer).not.toBe(chunk.buffer);
  expect(memory.release(chunk)).toBe(true);
  expect(memory.take().buffer).toBe(chunk.buffer);
});

it("copies a small chunk, and frees the slab at once", () => {
  const memory = new ChunkMemory(CHUNK_SLAB_BYTES);
  const slab = memory.take().fill(7);
  const chunk = memory.fill(slab, 100);
  expect(memory.take().buffer).toBe(slab.buffer);
  slab.fill(0);
  expect(chunk).toEqual(Buffer.alloc(100, 7));
  expect(memory.release(chunk)).toBe(false);
  expect(memory.take().buffer).not.toBe(chunk.buffer);
});

it.each([1, 4, 12].map((times) => times * CHUNK_SLAB_BYTES))(
  "keeps a bounded number of free slabs of %i bytes",
  (slabBytes) => {
    const memory = new ChunkMemory(slabBytes);
    const kept = MAX_FREE_SLAB_BYTES / slabBytes;
    const slabs = Array.from({ length: kept + 1 }, () => memory.take());
    for (const slab of slabs) memory.release(slab);
    const again = new Set(slabs.map(() => memory.take().buffer));
    expect(slabs.filter((slab) => again.has(slab.buffer)).length).toBe(kept);
  },
);
