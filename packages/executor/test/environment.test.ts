import type { EnvPolicy } from "@codex/executor-protocol";
import { describe, expect, it } from "vitest";
import { createEnvironment } from "../src/environment.js";

const OWN = {
  PATH: "/bin",
  HOME: "/home/u",
  TERM: "xterm",
  TZ: "UTC",
  API_KEY: "k",
  my_secret: "s",
  Token_of_mine: "t",
  FOO_1: "1",
  FOO_22: "22",
  GONE: undefined,
};
const policy = (part: Partial<EnvPolicy> = {}): EnvPolicy => ({
  inherit: "all",
  ignoreDefaultExcludes: false,
  exclude: [],
  set: {},
  includeOnly: [],
  ...part,
});
const names = (part: Partial<EnvPolicy>) => Object.keys(createEnvironment(policy(part), OWN)).sort();

describe("the environment of a policy", () => {
  it("inherits all but secrets", () => {
    expect(names({})).toEqual(["FOO_1", "FOO_22", "HOME", "PATH", "TERM", "TZ"]);
  });
  it("inherits the core, or nothing", () => {
    expect(names({ inherit: "core" })).toEqual(["HOME", "PATH"]);
    expect(names({ inherit: "none", set: { A: "1" } })).toEqual(["A"]);
  });
  it("keeps secrets when told to, values untouched", () => {
    expect(createEnvironment(policy({ ignoreDefaultExcludes: true }), OWN)).toEqual({
      PATH: "/bin",
      HOME: "/home/u",
      TERM: "xterm",
      TZ: "UTC",
      API_KEY: "k",
      my_secret: "s",
      Token_of_mine: "t",
      FOO_1: "1",
      FOO_22: "22",
    });
  });
  it.each([
    ["foo_?", ["FOO_22", "HOME", "PATH", "TERM", "TZ"]],
    ["FOO_??", ["FOO_1", "HOME", "PATH", "TERM", "TZ"]],
    ["f*", ["HOME", "PATH", "TERM", "TZ"]],
    ["*", []],
    ["*_*2", ["FOO_1", "HOME", "PATH", "TERM", "TZ"]],
    ["[FP]*", ["FOO_1", "FOO_22", "HOME", "PATH", "TERM", "TZ"]], // no classes
    ["FOO", ["FOO_1", "FOO_22", "HOME", "PATH", "TERM", "TZ"]],
    ["", ["FOO_1", "FOO_22", "HOME", "PATH", "TERM", "TZ"]],
  ])("excludes %s", (pattern, expected) => {
    expect(names({ exclude: [pattern] })).toEqual(expected);
  });
  it("sets after it excludes, and filters what it set by includeOnly", () => {
    expect(createEnvironment(policy({ exclude: ["PATH"], set: { PATH: "/usr/bin", A_KEY: "x" } }), OWN)).toMatchObject({
      PATH: "/usr/bin",
      A_KEY: "x",
    });
    expect(names({ set: { NEW: "1" }, includeOnly: ["path", "F*"] })).toEqual(["FOO_1", "FOO_22", "PATH"]);
    expect(names({ set: { NEW: "1" }, includeOnly: ["new"] })).toEqual(["NEW"]);
  });
  it("is not slowed down by a hostile pattern", () => {
    const own = { ["A".repeat(5_000)]: "1" };
    expect(createEnvironment(policy({ exclude: [`${"*A".repeat(500)}*B`] }), own)).toEqual(own);
  });
  it("takes names that mean something to JavaScript as names", () => {
    const made = createEnvironment(policy({ set: JSON.parse('{"__proto__":"x","constructor":"y"}') }), {});
    expect(Object.entries(made)).toEqual([
      ["__proto__", "x"],
      ["constructor", "y"],
    ]);
  });
});
