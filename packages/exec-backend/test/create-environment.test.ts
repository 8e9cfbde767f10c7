import type { EnvPolicy } from "@codex/executor-protocol";
import { describe, expect, it } from "vitest";
import {
  CORE_NAMES,
  createEnvironment,
  DEFAULT_EXCLUDES,
  isDecided,
  listRemoved,
  NEVER_PASSED,
} from "../src/create-environment.js";

const OWN = {
  HOME: "/home/u",
  PATH: "/bin",
  lc_all: "C",
  TERM: "xterm",
  PWD: "/",
  OPENAI_API_KEY: "k",
  my_secret: "s",
  KEYBOARD: "us",
  Tokenizer: "t",
  FOO: "foo",
  UNSET: undefined,
};
const policy = (more: Partial<EnvPolicy>): EnvPolicy => ({
  inherit: "all",
  ignoreDefaultExcludes: false,
  exclude: [],
  set: {},
  includeOnly: [],
  ...more,
});
const namesOf = (more: Partial<EnvPolicy>, overlay = {}) =>
  Object.keys(createEnvironment(policy(more), OWN, overlay)).sort();

it("pins the core names, the default excludes and the names that are never passed", () => {
  expect(CORE_NAMES.join(" ")).toBe("HOME LANG LC_ALL LC_CTYPE LOGNAME PATH SHELL TEMP TMP TMPDIR USER");
  expect(DEFAULT_EXCLUDES).toEqual(["*KEY*", "*SECRET*", "*TOKEN*"]);
  expect(NEVER_PASSED).toEqual(["CODEX_EXEC_SERVER_NOISE_AUTH_TOKEN", "CODEX_EXEC_SERVER_EXIT_ON_STDIN_CLOSE"]);
});

it("is exactly the overlay without a policy", () => {
  expect(createEnvironment(undefined, OWN, { A: "1" })).toEqual({ A: "1" });
});

describe("a policy", () => {
  it("inherits all, the core or nothing", () => {
    expect(namesOf({})).toEqual(["FOO", "HOME", "PATH", "PWD", "TERM", "lc_all"]);
    expect(namesOf({ inherit: "core" })).toEqual(["HOME", "PATH", "lc_all"]);
    expect(namesOf({ inherit: "none" })).toEqual([]);
  });

  it("drops names that look secret, unless disabled", () => {
    const secret = ["KEYBOARD", "OPENAI_API_KEY", "Tokenizer", "my_secret"];
    expect(namesOf({ ignoreDefaultExcludes: true })).toEqual(expect.arrayContaining(secret));
    expect(namesOf({ set: { MY_KEY: "1" } })).toContain("MY_KEY");
  });

  it("excludes by case-insensitive globs of * and ?", () => {
    expect(namesOf({ exclude: ["f*", "h?me", "[PT]*"] })).toEqual(["PATH", "PWD", "TERM", "lc_all"]);
    expect(namesOf({ exclude: ["*"] })).toEqual([]);
    expect(namesOf({ exclude: ["P"] })).toContain("PATH");
  });

  it("sets after excluding, and keeps only what is included", () => {
    const more = { exclude: ["FOO"], set: { FOO: "new", BAR: "1", MYKEY: "2" } };
    expect(createEnvironment(policy(more), OWN)).toMatchObject({ FOO: "new", BAR: "1", MYKEY: "2" });
    expect(namesOf({ ...more, includeOnly: ["foo", "*key*", "p??"] })).toEqual(["FOO", "MYKEY", "PWD"]);
  });

  it("merges the overlay over the result, unfiltered", () => {
    const overlay = { FOO: "over", X_TOKEN: "t" };
    const made = createEnvironment(
      policy({ inherit: "none", set: { FOO: "set" }, includeOnly: ["FOO"] }),
      OWN,
      overlay,
    );
    expect(made).toEqual(overlay);
  });
});

it("never passes settings of the server", () => {
  const own = Object.fromEntries(NEVER_PASSED.map((name) => [name, "x"]));
  expect(createEnvironment(undefined, {}, own)).toEqual({});
  const made = createEnvironment(policy({ ignoreDefaultExcludes: true, set: own }), own, own);
  expect(made).toEqual({});
});

it("handles names of object members, and hostile patterns", () => {
  const own = Object.fromEntries([
    ["__proto__", "p"],
    ["constructor", "c"],
  ]);
  expect(Object.entries(createEnvironment(policy({}), own))).toEqual([
    ["__proto__", "p"],
    ["constructor", "c"],
  ]);
  const name = "A".repeat(5_000);
  expect(createEnvironment(policy({ exclude: [`${"*A".repeat(2_000)}*B`] }), { [name]: "1" })).toEqual({ [name]: "1" });
});

describe("the variables that a policy removes", () => {
  it.each([
    [
      {},
      [
        ["KEYBOARD", "*KEY*"],
        ["OPENAI_API_KEY", "*KEY*"],
        ["Tokenizer", "*TOKEN*"],
        ["my_secret", "*SECRET*"],
      ],
    ],
    [{ ignoreDefaultExcludes: true, exclude: ["f?o"] }, [["FOO", "f?o"]]],
    [
      {
        ignoreDefaultExcludes: true,
        includeOnly: ["P*", "FOO", "*k*", "*s*", "H*", "l*"],
        inherit: "core" as const,
        set: { FOO: "1" },
      },
      [
        ["KEYBOARD", "inherit = core"],
        ["OPENAI_API_KEY", "inherit = core"],
        ["PWD", "inherit = core"],
        ["TERM", "includeOnly"],
        ["Tokenizer", "inherit = core"],
        ["my_secret", "inherit = core"],
      ],
    ],
  ])("%j", (more, expected) => {
    const removed = listRemoved(policy(more), OWN);
    expect(removed.map(({ name, by }) => [name, by])).toEqual(expected);
    const kept = createEnvironment(policy(more), OWN);
    for (const name of Object.keys(OWN)) {
      const gone = removed.some((variable) => variable.name === name) || name === "UNSET";
      expect([name, name in kept]).toEqual([name, !gone]);
    }
  });
});

it("does not treat variables named like members of every object as determined by the policy", () => {
  for (const name of ["constructor", "toString", "__proto__", "hasOwnProperty"]) {
    expect(isDecided(policy({}), {}, name)).toBe(false);
    expect(isDecided(policy({ set: { [name]: "1" } }), {}, name)).toBe(true);
    const own = Object.fromEntries([[name, "x"]]);
    expect(listRemoved(policy({ exclude: [name] }), own)).toEqual([{ name, by: name }]);
    expect(Object.entries(createEnvironment(policy({}), own))).toEqual([[name, "x"]]);
  }
});
