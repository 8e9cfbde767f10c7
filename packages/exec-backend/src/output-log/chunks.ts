import type { OutputChunk } from "./output-chunk.js";

/** Index of the chunk that contains `offset`, else of the first one after it. */
export const findChunk = (chunks: readonly OutputChunk[], offset: number): number =>
  findIndex(chunks, (chunk) => chunk.offset + chunk.bytes.length > offset);

/** Binary search: index of the first chunk that satisfies `test`, as all later ones must; the length when there is none. */
export function findIndex(chunks: readonly OutputChunk[], test: (chunk: OutputChunk) => boolean): number {
  let low = 0;
  let high = chunks.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (test(chunks[middle]!)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** The part of a chunk inside `[from, to)`; undefined when there is none. */
export function cutChunk(chunk: OutputChunk, from: number, to: number): OutputChunk | undefined {
  const start = Math.max(0, from - chunk.offset);
  const stop = Math.min(chunk.bytes.length, to - chunk.offset);
  if (start >= stop) return undefined;
  if (start === 0 && stop === chunk.bytes.length) return chunk;
  return { ...chunk, offset: chunk.offset + start, bytes: chunk.bytes.subarray(start, stop) };
}

export function pushCut(into: OutputChunk[], chunk: OutputChunk, from: number, to: number): void {
  const cut = cutChunk(chunk, from, to);
  if (cut !== undefined) into.push(cut);
}

export function findGaps(chunks: readonly OutputChunk[], from: number, to: number): { from: number; to: number }[] {
  const gaps: { from: number; to: number }[] = [];
  let expected = from;
  for (const chunk of chunks) {
    if (chunk.offset > expected) gaps.push({ from: expected, to: chunk.offset });
    expected = chunk.offset + chunk.bytes.length;
  }
  if (expected < to) gaps.push({ from: expected, to });
  return gaps;
}
