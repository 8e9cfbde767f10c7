import type { ProcessOutcome } from "../outcome.js";
import { describeLimit } from "../resource-limits.js";
import type { ByteRange, OutputText } from "../unified-exec-result.js";

/** Estimate of a model's tokens: one for 4 bytes. */
export const BYTES_PER_TOKEN = 4;
/** Estimate of a model's tokens in a number of bytes. */
export const estimateTokens = (bytes: number): number => Math.ceil(bytes / BYTES_PER_TOKEN);

/** The session of an outcome, and its exit code where there is one. */
interface OutcomeDetails {
  sessionId?: number | undefined;
  exitCode?: number | undefined;
}

/** How a process ended, or that it has not. */
export function renderOutcome(outcome: ProcessOutcome, { sessionId, exitCode }: OutcomeDetails): string {
  switch (outcome.kind) {
    case "running":
      return sessionId === undefined ? "Process running" : `Process running with session ID ${sessionId}`;
    case "exited":
      return `Process exited with code ${outcome.code}`;
    case "signaled":
      return `Process was ${describeEnd(outcome)} (exit code ${exitCode ?? "unknown"})`;
    case "failed_to_start":
      return `Process failed to start: ${outcome.reason}`;
    case "lost":
      return `Process was lost: ${outcome.reason}; how it ended is unknown`;
  }
}

const describeEnd = ({ signal, limit }: Extract<ProcessOutcome, { kind: "signaled" }>): string =>
  limit === undefined ? `killed by ${signal}` : `ended by its ${describeLimit(limit)}, with ${signal}`;

/** The shown parts of a range of output, with a mark where bytes were left out. */
export function renderOutput(range: ByteRange, output: readonly OutputText[] = []): string {
  let text = "";
  let at = range.from;
  const mark = (to: number) => (to > at ? `…${estimateTokens(to - at)} tokens truncated…` : "");
  for (const part of output) {
    text += mark(part.from) + part.text;
    at = part.to;
  }
  return text + mark(range.to);
}

/** Reports that a range was evicted, and why. */
export const renderGone = ({ from, to }: ByteRange, reason?: string): string =>
  `Bytes ${from}-${to} are gone: they were not retained${reason === undefined ? "" : `; ${reason}`}`;
