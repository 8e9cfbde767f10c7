import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

/** What the build has put into the file that a command loads. */
const packs = JSON.parse(readFileSync(new URL("../dist/packs.json", import.meta.url), "utf8")) as Record<
  string,
  { bytes: number; packages: string[] }
>;

const NEVER = ["agent", "commander", "exec-server", "exec-server-client", "policy", "smol-toml", "starlark", "toml"];
const HOST = ["executor", "process-host", "sandbox", "shell-snapshot"];

describe.each([
  { name: "run", maxBytes: 420_000, without: [...NEVER, "ws"] },
  { name: "run-remote", maxBytes: 290_000, without: [...NEVER, ...HOST] },
  { name: "tools-list", maxBytes: 400_000, without: [...NEVER, "ws"] },
  { name: "exec", maxBytes: 1_050_000, without: ["commander", "doctor", "mcp-client", "ws"] },
])("what codex $name loads", ({ name, maxBytes, without }) => {
  it("has no code of packages that it does not need", () => {
    expect(packs[name]?.packages.filter((each) => without.includes(each))).toEqual([]);
  });

  it(`has at most ${maxBytes} bytes`, () => {
    expect(packs[name]?.bytes).toBeGreaterThan(10_000);
    expect(packs[name]?.bytes).toBeLessThanOrEqual(maxBytes);
  });
});
