import { describe, expect, it } from "vitest";
import { MAX_MOUNTS, MAX_PATTERN_ENTRIES, MAX_PATTERN_MATCHES } from "../src/limits.js";
import { createPatternBudget, expandPattern } from "../src/profile/expand-pattern.js";
import type { FileKind, HostFiles } from "../src/profile/host-files.js";
import { resolveProfile } from "../src/profile/resolve-profile.js";
import { entry, pattern, restrict } from "./support.js";

/** A host whose every directory holds these names; those that begin with `d` are directories. */
const createHost = (names: readonly string[]): HostFiles => {
  const kind = (path: string): FileKind => (path === "/" || /\/d[^/]*$/.test(path) ? "directory" : "file");
  return {
    real: (path) => path,
    kind,
    target: () => undefined,
    isPlainFile: () => true,
    isForeign: () => false,
    isShared: () => false,
    ownUndecodable: () => new Set(),
    isProgram: () => false,
    gitConfigs: [],
    home: undefined,
    parsed: () => undefined,
    firstLine: () => undefined,
    list: () => names.map((name) => ({ name, kind: kind(`/${name}`) })),
    listLater: async () => names.map((name) => ({ name, kind: kind(`/${name}`) })),
    isPlaceholder: () => false,
    isEmpty: () => false,
    tmpDir: undefined,
    codexHome: undefined,
    serverCache: undefined,
  };
};
const many = (count: number) => Array.from({ length: count }, (_, index) => `f${index}`);
const expand = (text: string, names: readonly string[], maxDepth?: number) =>
  expandPattern(text, createHost(names), createPatternBudget(maxDepth));

describe("a pattern", () => {
  it.each<[string, string[], string[]]>([
    ["/d/*", ["a", "b", ".c"], ["/d/a", "/d/b", "/d/.c"]],
    ["/d/?", ["a", "bb"], ["/d/a"]],
    ["/d/[ab]*.x", ["a.x", "bb.x", "c.x", "ayx"], ["/d/a.x", "/d/bb.x"]],
    ["/d/[!a]", ["a", "b"], ["/d/b"]],
    ["/d/{a,b}.x", ["a.x", "b.x", "c.x"], ["/d/a.x", "/d/b.x"]],
    ["/d/a+(b)", ["a+(b)", "ab"], ["/d/a+(b)"]],
    ["/d/name", [], ["/d/name"]],
  ])("%s names what is there", (text, names, wanted) => {
    expect(expand(text, names).sort()).toEqual(wanted.sort());
  });

  it("searches as deep as it is configured to", () => {
    expect(expand("/d/**/x", ["d", "x"], 2).sort()).toEqual(["/d/x", "/d/d/x", "/d/d/d/x"].sort());
  });

  it(`names ${MAX_PATTERN_MATCHES} paths and no more`, () => {
    expect(expand("/d/*", many(MAX_PATTERN_MATCHES))).toHaveLength(MAX_PATTERN_MATCHES);
    expect(() => expand("/d/*", many(MAX_PATTERN_MATCHES + 1))).toThrow(
      `\`/d/*\` has too many matches, the last \`/d/f${MAX_PATTERN_MATCHES}\`; the limit is ${MAX_PATTERN_MATCHES}`,
    );
  });

  it(`looks at ${MAX_PATTERN_ENTRIES} entries and no more`, () => {
    expect(expand("/d/**/none", many(MAX_PATTERN_ENTRIES - 1), 0)).toEqual(["/d/none"]);
    expect(() => expand("/d/**/none", many(MAX_PATTERN_ENTRIES + 1), 0)).toThrow(`the limit is ${MAX_PATTERN_ENTRIES}`);
    // Others may fill a directory with names that no pattern matches.
    expect(expand("/d/none*", many(MAX_PATTERN_ENTRIES + 1))).toEqual([]);
  });
});

describe("a sandbox", () => {
  it(`has ${MAX_MOUNTS} mounts and no more`, () => {
    const mount = (count: number) =>
      resolveProfile(restrict([entry("/f", "read"), pattern("/d/*")]), createHost(many(count)));
    expect(mount(MAX_MOUNTS - 1).fileSystem).toHaveProperty("entries.length", MAX_MOUNTS);
    expect(() => mount(MAX_MOUNTS)).toThrow(
      `it needs ${MAX_MOUNTS + 1} mounts; the limit is ${MAX_MOUNTS}; pattern \`/d/*\` matches ${MAX_MOUNTS} paths, such as \`/d/f0\``,
    );
  });

  it("that denies twice as much as it may mount is refused, not cut short", () => {
    const run = () => resolveProfile(restrict([pattern("/d/*")]), createHost(many(MAX_MOUNTS * 2)));
    expect(run).toThrow(expect.objectContaining({ code: "sandbox_invalid" }));
  });
});
