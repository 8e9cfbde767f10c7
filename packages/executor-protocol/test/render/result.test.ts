import { describe, expect, it } from "vitest";
import {
  estimateTokens,
  type ProcessOutcome,
  presentResult,
  renderFailure,
  renderOutcome,
  UNKNOWN_SESSION,
  type UnifiedExecResult,
} from "../../src/index.js";

const part = (text: string, from = 0) => ({ from, to: from + text.length, text });
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
    expect(presentResult("exec_command", result({ shown: { output: [part("hello")] } })).text).toBe(
      "Chunk ID: 0a1b2c\nWall time: 1.5000 seconds\nProcess exited with code 0\nOriginal token count: 2\nOutput:\nhello",
    );
  });

  it("tells what was cut, where the rest is, and what is gone", () => {
    const omitted = [
      { from: 4, to: 40, reason: "budget" as const },
      { from: 40, to: 60, reason: "evicted" as const },
    ];
    const range = { from: 0, to: 64 };
    const shown = { sessionId: 1000, output: [part("head"), part("tail", 60)] };
    const cut = result({ originalTokenCount: 16, range, omitted, notices: ["one", "two"], shown });
    const { text } = presentResult("exec_command", cut);
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
    const counted = presentResult("exec_command", { ...cut, shown: { ...shown, lines: 7 } });
    expect(counted.text).toContain("\nTotal output lines: 7\nBytes 4-40");
  });

  it("says where output that is not complete goes on, also to programs", () => {
    const shown = { sessionId: 7, heldOpen: true as const };
    const { text, structured } = presentResult("write_stdin", result({ closed: false, notices: ["one"], shown }));
    const held =
      "a process that it left behind has its output open; read_output with session_id 7 and from 5 reads later output";
    expect(text).toContain(`\nNote: one\nNote: ${held}\nOutput:\n`);
    expect(structured).toEqual(result({ closed: false, notices: ["one", held] }));
  });

  it("tells each host that was not reached, how often and why", () => {
    const denied = { port: 443, protocol: "connect" as const, reason: "not_allowed", count: 1 };
    const { text } = presentResult(
      "exec_command",
      result({
        deniedHosts: [
          { ...denied, host: "a.example" },
          { ...denied, host: "b.example", count: 3, answer: "declined" },
          { ...denied, host: "c.example", reason: "denied", rule: { pattern: "*.example", source: "config.toml:3" } },
          { ...denied, host: "2001:db8::1", reason: "unreachable" },
          { ...denied, host: "db.example", port: 0, protocol: "direct", reason: "looked_up" },
        ],
      }),
    );
    expect(text.split("\n").filter((line) => line.startsWith("Network: "))).toEqual([
      "Network: a.example:443 denied (no rule allows it)",
      expect.stringMatching(/^Network: b\.example:443 denied 3 times \(declined/),
      "Network: c.example:443 denied (rule *.example (config.toml:3))",
      "Network: [2001:db8::1]:443 not reached (it did not accept the connection)",
      expect.stringMatching(/^Network: db\.example not reached \(looked up by a program that does not use the proxy/),
    ]);
  });

  it("names the session of a failure", () => {
    const failure = { status: "error" as const, message: "has no screen", sessionId: 7 };
    expect(renderFailure(failure)).toBe("session 7 has no screen");
    expect(renderFailure({ ...failure, message: "it has ended", code: UNKNOWN_SESSION })).toBe(
      "unknown session 7; it has ended",
    );
    expect(renderFailure({ status: "error", message: "no" })).toBe("no");
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
    const exitCode = { SIGKILL: 137, SIGTERM: 143 }[(outcome as { signal?: string }).signal ?? ""];
    expect(renderOutcome(outcome, { sessionId: 1234, exitCode })).toBe(expected);
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
