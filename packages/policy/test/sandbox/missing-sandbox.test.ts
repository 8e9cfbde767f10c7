import { describe, expect, it } from "vitest";
import type { AnalyzedCommand } from "../../src/analyzed-command.js";
import { MAX_CLOSED_EFFORT } from "../../src/limits.js";
import { findMissingSandbox } from "../../src/sandbox/missing-sandbox.js";
import type { SandboxSelector } from "../../src/sandbox/sandbox-selector.js";

const sandbox: SandboxSelector = {
  unrestricted: false,
  whenUnavailable: "ask",
  select: () => null,
  deniedReads: () => [
    { source: "/s", path: "/s", isPattern: false, except: [] },
    { source: "/w/**/k*", path: "/w/**/k*", isPattern: true, except: [] },
  ],
};

function findClosed(commands: string[][], words: readonly string[]): string | undefined {
  const command: AnalyzedCommand = { commands, isSplit: true, literals: { commands, complete: true } };
  return findMissingSandbox({ name: "e", host: undefined }, "/w", command, sandbox)?.findClosed(words);
}

describe("a missing sandbox", () => {
  it("finds words that name what one would close", () => {
    expect(findClosed([], ["cat", "a", "/s/b"])).toBe("/s/b");
    expect(findClosed([["cd", "x"]], ["cat", "a", "kb"])).toBe("kb");
    expect(findClosed([["cd", "/"]], ["cat", "-fs/b"])).toBe("-fs/b");
    expect(findClosed([["cd", "x"]], ["cat", "a", "b"])).toBeUndefined();
    expect(findClosed([], ["grep", "a", "/"])).toBe("grep");
  });

  it("compares so many paths, and then takes the next one for closed", () => {
    expect(MAX_CLOSED_EFFORT).toBe(50_000);
    const directories = Array.from({ length: 100 }, (_, at) => ["cd", `a${at}`]);
    const words = Array.from({ length: 2_000 }, (_, at) => `x${at}`);
    expect(findClosed(directories, ["cat", ...words.slice(0, 100)])).toBeUndefined();
    expect(findClosed(directories, ["cat", ...words])).toMatch(/^x\d+$/);
    expect(findClosed(directories, ["cat", ...words.map(() => "x")])).toBeUndefined();
    expect(findClosed([["cd", "a".repeat(60_000)]], ["cat", ...words])).toMatch(/^x\d+$/);
    expect(findClosed([], ["cat", `-${"a".repeat(60_000)}`])).toMatch(/^-a+$/);
  });
});
