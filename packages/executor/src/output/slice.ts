import type { MissingRange, OutputChunk, OutputLog } from "@codex/exec-backend";
import type { ByteRange, OmittedRange } from "@codex/executor-protocol";
import { getContinuation, getIncompleteTail } from "./utf8.js";

/** The part of a range of output that is shown. */
export interface Slice {
  range: ByteRange;
  /** The shown bytes, in order; where an offset jumps, bytes were left out. */
  chunks: OutputChunk[];
  omitted: OmittedRange[];
  /** Lines of the whole range, if some of it was left out but all of it was read. */
  lines: number | undefined;
}

export interface SliceBudget {
  /** Maximum number of bytes shown. */
  bytes: number;
  /** Ranges of up to this many bytes are read completely, to count their lines. */
  countedBytes: number;
}

/** Distance in bytes within which a cut moves to the end of a line; at most a quarter of the head or tail. */
const NEAR_BYTES = 512;

/** Reads a range, or its beginning and end if it is larger than the budget: never much more than is shown. */
export async function readSlice(log: OutputLog, range: ByteRange, budget: SliceBudget): Promise<Slice> {
  const evicted = log.getEvicted(range.from, range.to);
  if (range.to - range.from - sizeOf(evicted) <= budget.bytes) {
    const { chunks } = await log.read(range.from, range.to);
    const omitted = getGaps(chunks, range).map((gap) => toEvicted(gap, evicted));
    return { range, chunks, omitted, lines: undefined };
  }
  const half = Math.floor(budget.bytes / 2);
  const headTo = skipForward(range.from, half, evicted);
  const tailFrom = skipBack(range.to, budget.bytes - half, evicted);
  const isCounted = evicted.length === 0 && range.to - range.from <= budget.countedBytes;
  const whole = isCounted ? (await log.read(range.from, range.to)).chunks : undefined;
  const head = whole ?? (await log.read(range.from, headTo)).chunks;
  // One byte more shows whether the tail begins at the beginning of a line.
  const tail = whole ?? (await log.read(tailFrom - 1, range.to)).chunks;
  const from = snapForward(tail, tailFrom, range.to);
  const to = Math.min(from, snapBack(head, range.from, headTo));
  const chunks = [...cutChunks(head, range.from, to), ...cutChunks(tail, from, range.to)];
  const omitted = getGaps(chunks, range).flatMap((gap) => classify(log, gap));
  return { range, chunks, omitted, lines: whole === undefined ? undefined : countLines(whole) };
}

/** Where incomplete output is cut so that a character is not split: `end`, or up to 3 bytes before. */
export async function findCharacterEnd(log: OutputLog, from: number, end: number): Promise<number> {
  const { chunks } = await log.read(Math.max(from, end - 3), end);
  const stream = chunks.at(-1)?.stream;
  const first = chunks.findLastIndex((chunk) => chunk.stream !== stream) + 1;
  return end - getIncompleteTail(joinBytes(chunks.slice(first)));
}

/** The end of a range that begins at `from` and holds `bytes` bytes that are not evicted. */
export function skipForward(from: number, bytes: number, evicted: readonly ByteRange[]): number {
  let to = from + bytes;
  for (const gap of evicted) {
    if (gap.from < to) to += gap.to - Math.max(from, gap.from);
  }
  return to;
}

function skipBack(to: number, bytes: number, evicted: readonly ByteRange[]): number {
  let from = to - bytes;
  for (const gap of evicted.toReversed()) {
    if (gap.to > from) from -= Math.min(to, gap.to) - gap.from;
  }
  return from;
}

/** The ranges that no chunk covers. */
export function getGaps(chunks: readonly OutputChunk[], range: ByteRange): ByteRange[] {
  const gaps: ByteRange[] = [];
  let expected = range.from;
  for (const { offset, bytes } of chunks) {
    if (offset > expected) gaps.push({ from: expected, to: offset });
    expected = offset + bytes.length;
  }
  if (expected < range.to) gaps.push({ from: expected, to: range.to });
  return gaps;
}

/** Splits a gap into ranges that can still be read and evicted ones. */
function classify(log: OutputLog, gap: ByteRange): OmittedRange[] {
  const parts: OmittedRange[] = [];
  let from = gap.from;
  for (const lost of log.getEvicted(gap.from, gap.to)) {
    if (lost.from > from) parts.push({ from, to: lost.from, reason: "budget" });
    parts.push(toEvicted(lost, [lost]));
    from = lost.to;
  }
  if (from < gap.to) parts.push({ from, to: gap.to, reason: "budget" });
  return parts;
}

/** `estimated`, where that applies to a range in it. */
function toEvicted({ from, to }: ByteRange, evicted: readonly MissingRange[]): OmittedRange {
  const isEstimated = evicted.some((gap) => gap.estimated === true && gap.from < to && gap.to > from);
  return { from, to, reason: "evicted", ...(isEstimated ? { estimated: true } : {}) };
}

/** The end of the head: after a line if one ends nearby, else before a character that would be split. */
function snapBack(chunks: readonly OutputChunk[], from: number, to: number): number {
  const near = getNear(to - from);
  const edge = joinRun(cutChunks(chunks, Math.max(from, to - Math.max(near, 3)), to), to);
  const afterLine = to - edge.length + edge.lastIndexOf(LINE_FEED) + 1;
  if (afterLine > to - edge.length && to - afterLine <= near) return afterLine;
  return to - getIncompleteTail(edge);
}

/** The beginning of the tail: a line if one begins nearby, else after a character that would be split. */
function snapForward(chunks: readonly OutputChunk[], from: number, to: number): number {
  const near = getNear(to - from);
  const stop = Math.min(to, from + Math.max(near, 3));
  // The byte before shows whether a line begins here already.
  const edge = joinRun(cutChunks(chunks, from - 1, stop), stop);
  const line = edge.indexOf(LINE_FEED);
  const afterLine = stop - edge.length + line + 1;
  if (line >= 0 && afterLine - from <= near && afterLine < to) return afterLine;
  return from + getContinuation(edge.subarray(Math.max(0, edge.length - (stop - from))));
}

const LINE_FEED = 0x0a;

const getNear = (size: number): number => Math.min(NEAR_BYTES, Math.floor(size / 4));

function countLines(chunks: readonly OutputChunk[]): number {
  let lines = 0;
  for (const { bytes } of chunks) {
    for (let at = bytes.indexOf(LINE_FEED); at !== -1; at = bytes.indexOf(LINE_FEED, at + 1)) lines += 1;
  }
  const last = chunks.at(-1)?.bytes.at(-1);
  return last === undefined || last === LINE_FEED ? lines : lines + 1;
}

function cutChunks(chunks: readonly OutputChunk[], from: number, to: number): OutputChunk[] {
  return chunks.flatMap((chunk) => {
    const start = Math.max(0, from - chunk.offset);
    const bytes = chunk.bytes.subarray(start, Math.max(start, to - chunk.offset));
    return bytes.length === 0 ? [] : [{ ...chunk, offset: chunk.offset + start, bytes }];
  });
}

const joinBytes = (chunks: readonly OutputChunk[]): Buffer => Buffer.concat(chunks.map((chunk) => chunk.bytes));

/** The contiguous bytes before `to`. */
function joinRun(chunks: readonly OutputChunk[], to: number): Buffer {
  let start = to;
  let first = chunks.length;
  while (first > 0 && chunks[first - 1]!.offset + chunks[first - 1]!.bytes.length === start) {
    first -= 1;
    start = chunks[first]!.offset;
  }
  return joinBytes(chunks.slice(first));
}

const sizeOf = (ranges: readonly ByteRange[]): number => ranges.reduce((sum, { from, to }) => sum + to - from, 0);
