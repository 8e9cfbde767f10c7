import type { ProcessOutcome, UnifiedExecResult } from "@codex/executor-protocol";
import { describe, expect, it } from "vitest";
import { estimateTokens, renderOutcome, renderResult } from "../../src/sessions/render.js";

const bytes = (text: string, offset = 0) => ({
  seq: 1,
  stream: "stdout" as const,
  offset,
  at: 0,
  bytes: Buffer.from(text),
});
const result = (part: Partial<UnifiedExecResult>): UnifiedExecResult => ({
  chunkId: "0a1b2c",
  wallTimeSeconds: 1.5,
  outcome: { kind: "exited", code: 0 },
  closed: true,
  range: { from: 0, to: 5 },
  omitted: [],
  originalTokenCount: 2,
  sandboxDenied: false,
  ...part,
});

describe("the text of a result", () => {
  it("is one field a line, then the output and nothing else", () => {
    const slice = { range: { from: 0, to: 5 }, chunks: [bytes("hello")], omitted: [], lines: undefined };
    expect(renderResult(1000, result({}), slice)).toBe(
      "Chunk ID: 0a1b2c\nWall time: 1.5000 seconds\nProcess exited with code 0\nOriginal token count: 2\nOutput:\nhello",
    );
  });

  it("tells what was cut, where the rest is, and what is gone", () => {
    const omitted = [
      { from: 4, to: 40, reason: "budget" as const },
      { from: 40, to: 60, reason: "evicted" as const },
    ];
    const range = { from: 0, to: 64 };
    const chunks = [bytes("head"), bytes("tail", 60)];
    const text = renderResult(1000, result({ originalTokenCount: 16, range, notices: ["one", "two"] }), {
      range,
      chunks,
      omitted,
      lines: undefined,
    });
    expect(text).toBe(
      [
        "Chunk ID: 0a1b2c",
        "Wall time: 1.5000 seconds",
        "Process exited with code 0",
        "Original token count: 16",
        "Note: one",
        "Note: two",
        "Output:",
        "Warning: truncated output (original token count: 16)",
        "... 56 bytes omitted ...",
        "Bytes 4-40 were left out: read_output with session_id 1000 and from 4 reads them",
        "Bytes 40-60 are gone: they were not retained",
        "",
        "head…14 tokens truncated…tail",
      ].join("\n"),
    );
    const counted = renderResult(1000, result({ range }), { range, chunks, omitted, lines: 7 });
    expect(counted).toContain("\nTotal output lines: 7\nBytes 4-40");
  });

  it.each<[ProcessOutcome, string]>([
    [{ kind: "running" }, "Process running with session ID 1234"],
    [{ kind: "exited", code: 130 }, "Process exited with code 130"],
    [{ kind: "signaled", signal: "SIGKILL", by: "unknown" }, "Process was killed by SIGKILL (exit code 137)"],
    [{ kind: "signaled", signal: "SIGTERM", by: "timeout" }, "Process was killed by SIGTERM (exit code 143)"],
    [{ kind: "failed_to_start", reason: "no shell" }, "Process failed to start: no shell"],
    [
      { kind: "lost", reason: "the host is gone", lastSeq: 3 },
      "Process was lost: the host is gone; how it ended is unknown",
    ],
  ])("says how a process ended: %j", (outcome, expected) => {
    expect(renderOutcome(outcome, 1234)).toBe(expected);
  });

  it.each([
    [0, 0],
    [1, 1],
    [4, 1],
    [5, 2],
  ])("estimates %d bytes as %d tokens", (size, tokens) => {
    expect(estimateTokens(size)).toBe(tokens);
  });
});
