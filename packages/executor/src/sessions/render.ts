import { getExitCode, type OutputChunk } from "@codex/exec-backend";
import type { ByteRange, ProcessOutcome, UnifiedExecResult } from "@codex/executor-protocol";
import type { Slice } from "../output/slice.js";

/** Estimate of a model's tokens: one for 4 bytes. */
export const BYTES_PER_TOKEN = 4;
export const estimateTokens = (bytes: number): number => Math.ceil(bytes / BYTES_PER_TOKEN);

/**
 * The result of a poll as text for the model: one field per line, then the output, verbatim. `evictionReason`: why evicted output
 * was not retained.
 */
export function renderResult(
  sessionId: number,
  result: UnifiedExecResult,
  slice: Slice,
  evictionReason?: string,
): string {
  const lines = [
    `Chunk ID: ${result.chunkId}`,
    `Wall time: ${result.wallTimeSeconds.toFixed(4)} seconds`,
    renderOutcome(result.outcome, sessionId),
    `Original token count: ${result.originalTokenCount}`,
    ...(result.notices ?? []).map((notice) => `Note: ${notice}`),
    "Output:",
  ];
  return `${lines.join("\n")}\n${renderCut(sessionId, result.originalTokenCount, slice, evictionReason)}${renderOutput(slice)}`;
}

/** How a process ended, or that it has not. */
export function renderOutcome(outcome: ProcessOutcome, sessionId: number): string {
  switch (outcome.kind) {
    case "running":
      return `Process running with session ID ${sessionId}`;
    case "exited":
      return `Process exited with code ${outcome.code}`;
    case "signaled":
      return `Process was killed by ${outcome.signal} (exit code ${getExitCode(outcome) ?? "unknown"})`;
    case "failed_to_start":
      return `Process failed to start: ${outcome.reason}`;
    case "lost":
      return `Process was lost: ${outcome.reason}; how it ended is unknown`;
  }
}

/** The warning before output of which some was left out. */
function renderCut(sessionId: number, tokens: number, { omitted, lines }: Slice, evictionReason?: string): string {
  if (omitted.length === 0) return "";
  const bytes = omitted.reduce((sum, { from, to }) => sum + to - from, 0);
  const size = lines === undefined ? `... ${bytes} bytes omitted ...` : `Total output lines: ${lines}`;
  const ranges = omitted.map((part) =>
    part.reason === "budget"
      ? `Bytes ${part.from}-${part.to} were left out: read_output with session_id ${sessionId} and from ${part.from} reads them`
      : renderGone(part, evictionReason),
  );
  return [`Warning: truncated output (original token count: ${tokens})`, size, ...ranges, "", ""].join("\n");
}

/** Reports that a range was evicted, and why. */
export const renderGone = ({ from, to }: ByteRange, reason?: string): string =>
  `Bytes ${from}-${to} are gone: they were not retained${reason === undefined ? "" : `; ${reason}`}`;

/** The shown output as text, with a mark where bytes were left out. */
export function renderOutput({ chunks, range }: Pick<Slice, "chunks" | "range">): string {
  let text = "";
  let expected = range.from;
  let run: OutputChunk[] = [];
  const mark = (gap: number) => {
    text += decode(run) + (gap > 0 ? `…${estimateTokens(gap)} tokens truncated…` : "");
    run = [];
  };
  for (const chunk of chunks) {
    if (chunk.offset > expected) mark(chunk.offset - expected);
    run.push(chunk);
    expected = chunk.offset + chunk.bytes.length;
  }
  mark(range.to - expected);
  return text;
}

/** Decodes each stream separately: a character may continue after bytes of the other stream. */
function decode(chunks: readonly OutputChunk[]): string {
  const [first] = chunks;
  if (first === undefined) return "";
  if (chunks.every(({ stream }) => stream === first.stream)) {
    return decoder().decode(Buffer.concat(chunks.map(({ bytes }) => bytes)));
  }
  const decoders = new Map<string, ReturnType<typeof decoder>>();
  let text = "";
  for (const { stream, bytes } of chunks) {
    const own = decoders.get(stream) ?? decoder();
    decoders.set(stream, own);
    text += own.decode(bytes, { stream: true });
  }
  for (const own of decoders.values()) text += own.decode();
  return text;
}

const decoder = () => new TextDecoder("utf-8", { ignoreBOM: true });
