import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { loadShellParser } from "../src/parser.js";
import { splitScript } from "../src/split.js";

interface Row {
  script: string;
  split: string[][] | null;
  /** What Codex 0.169.0 was measured to do where it differs. */
  codex?: "splits" | "opaque";
}

const rows: Row[] = JSON.parse(readFileSync(new URL("./corpus/split.json", import.meta.url), "utf8"));
const parser = await loadShellParser();

describe("splitScript", () => {
  it("has a corpus of some size", () => {
    expect(rows.length).toBeGreaterThanOrEqual(350);
    expect(rows.filter(({ split }) => split !== null).length).toBeGreaterThan(150);
    expect(new Set(rows.map(({ script }) => script)).size).toBe(rows.length);
  });

  it.each(rows)("$script", ({ script, split }) => expect(splitScript(parser, script)).toEqual(split));

  it("differs from Codex only in redirections that do nothing and in what bash reads differently", () => {
    const differing = rows.filter(({ codex }) => codex !== undefined).map(({ script }) => script);
    const isExplained = (script: string) => /[<>]|[\r\f\v\u00a0\u2003\x01]|\n\\\n|;\\\n/.test(script);
    expect(differing.filter((script) => !isExplained(script))).toEqual([]);
  });
});
