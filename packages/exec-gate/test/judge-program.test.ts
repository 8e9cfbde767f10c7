import { describe, expect, it } from "vitest";
import {
  compileGate,
  type GateRule,
  GateRuleError,
  type HostExecutable,
  judgeProgram,
  type Program,
} from "../src/index.js";

type Short = readonly [decision: GateRule["decision"], ...pattern: (string | readonly string[])[]];

function gateOf(rules: readonly Short[], hostExecutables: readonly HostExecutable[] = [], approved: string[][] = []) {
  const full = rules.map(
    ([decision, ...pattern], index): GateRule => ({
      id: `r${index}`,
      decision,
      pattern: pattern.map((word) => (typeof word === "string" ? [word] : word)),
      place: { kind: "outside", profile: "network" },
    }),
  );
  return compileGate({ rules: full, hostExecutables, approved });
}

const NONE = { rules: [], hostExecutables: [], approved: [] };
const compileWith = (...rules: GateRule[]) => compileGate({ ...NONE, rules });

/** `given -> file`, or one path that is both; trusted unless it is below /ws. */
function programOf(path: string, ...argv: string[]): Program {
  const [given, file = given] = path.split(" -> ");
  const trust = [given!, file!].some((each) => each.startsWith("/ws/")) ? "none" : "name";
  return { given: given!, file: file!, argv: argv.length > 0 ? argv : [given!], trust };
}

describe("a program is judged by what it is", () => {
  const cases: [string, readonly Short[], Program, string][] = [
    ["no rule", [["allow", "mkdir"]], programOf("/usr/bin/touch", "touch", "f"), "run"],
    ["its name", [["allow", "touch"]], programOf("/usr/bin/touch", "touch", "f"), "outside"],
    ["its path", [["allow", "/usr/bin/touch"]], programOf("/usr/bin/touch", "touch"), "outside"],
    ["another path", [["allow", "/bin/touch"]], programOf("/usr/bin/touch", "touch"), "run"],
    ["the name of its link", [["allow", "python"]], programOf("/usr/bin/python -> /usr/bin/python3.11"), "outside"],
    ["the name of its file", [["refuse", "dash"]], programOf("/bin/sh -> /usr/bin/dash", "sh"), "refuse"],
    ["further words", [["ask", "git", "push"]], programOf("/usr/bin/git", "git", "push", "origin"), "ask"],
    ["other words", [["ask", "git", "push"]], programOf("/usr/bin/git", "git", "pull"), "run"],
    ["fewer words", [["refuse", "git", "push"]], programOf("/usr/bin/git", "git"), "run"],
    ["alternatives", [["ask", "git", ["push", "fetch"]]], programOf("/usr/bin/git", "git", "fetch"), "ask"],
    ["a file of the command's own", [["allow", "touch"]], programOf("/ws/touch", "touch"), "run"],
    ["a link of the command's own", [["allow", "touch"]], programOf("/ws/touch -> /usr/bin/id", "touch"), "run"],
    ["a file of the command's own, refused", [["refuse", "curl"]], programOf("/ws/curl", "curl"), "refuse"],
  ];
  it.each(cases)("%s", (_, rules, program, decision) => {
    expect(judgeProgram(gateOf(rules), program).decision).toBe(decision);
  });
});

describe("a claimed name is refused and asked about, never allowed", () => {
  it.each([
    ["refuse", "curl", "refuse"],
    ["ask", "curl", "ask"],
    ["allow", "curl", "run"],
    ["refuse", "-curl", "refuse"],
    ["refuse", "/opt/curl", "refuse"],
  ] as const)("%s %s", (decision, claimed, result) => {
    const program = programOf("/usr/bin/true", claimed);
    expect(judgeProgram(gateOf([[decision, "curl"]]), program).decision).toBe(result);
  });

  it("a file without a name has only the claimed one", () => {
    const program: Program = { argv: ["curl", "x"], trust: "none" };
    expect(judgeProgram(gateOf([["refuse", "curl"]]), program).decision).toBe("refuse");
    expect(judgeProgram(gateOf([["allow", "curl"]]), program).decision).toBe("run");
  });
});

describe("what a loader is told to load is refused and asked about, and nothing of it is allowed", () => {
  it.each([
    ["/lib64/ld-linux-x86-64.so.2", ["/usr/bin/curl", "x"]],
    ["/lib64/ld-linux-x86-64.so.2", ["--library-path", "/x", "--inhibit-cache", "/usr/bin/curl", "x"]],
    ["/lib/ld-musl-x86_64.so.1", ["--preload", "a.so", "/usr/bin/curl", "x"]],
    ["/usr/bin/ld.so", ["--argv0", "other", "/usr/bin/curl", "x"]],
    ["/bin/busybox", ["curl", "x"]],
    ["/bin/busybox.static", ["curl", "x"]],
    ["/usr/bin/coreutils", ["--coreutils-prog=curl", "x"]],
    ["/bin/busybox", ["busybox", "busybox", "curl", "x"]],
    ["/lib/ld-musl-x86_64.so.1", ["/bin/busybox", "curl", "x"]],
    ["/usr/bin/valgrind", ["-q", "--leak-check=full", "curl", "x"]],
    ["/usr/libexec/valgrind/memcheck-amd64-linux", ["-q", "curl", "x"]],
    ["/usr/bin/qemu-x86_64-static", ["-L", "/sysroot", "/usr/bin/curl", "x"]],
  ])("%s %j", (path, words) => {
    const program = programOf(path, path, ...words);
    expect(judgeProgram(gateOf([["refuse", "curl", "x"]]), program).decision).toBe("refuse");
    expect(judgeProgram(gateOf([["refuse", "curl", "y"]]), program).decision).toBe("run");
    expect(
      judgeProgram(
        gateOf([
          ["allow", "curl"],
          ["allow", path],
        ]),
        program,
      ).decision,
    ).toBe("run");
  });
});

describe("what interprets a script is refused and asked about, and not allowed", () => {
  const script = (interpreter: readonly string[]) => ({ ...programOf("/ws/build", "build", "all"), interpreter });
  it.each([
    ["refuse", ["/bin/sh", "/ws/build", "all"], "refuse"],
    ["ask", ["/bin/sh", "-e", "/ws/build", "all"], "ask"],
    ["allow", ["/bin/sh", "/ws/build", "all"], "run"],
    ["refuse", ["/bin/busybox", "sh", "/ws/build", "all"], "refuse"],
    ["refuse", ["/usr/bin/env", "sh", "/ws/build", "all"], "run"],
  ] as const)("%s %j", (decision, interpreter, result) => {
    expect(judgeProgram(gateOf([[decision, "sh"]]), script(interpreter)).decision).toBe(result);
  });
});

describe("what was approved with the command is not asked about again", () => {
  const gate = gateOf([["ask", "git"]], [], [["git", "push", "origin"]]);
  it.each([
    ["the same words", programOf("/usr/bin/git", "git", "push", "origin"), "outside"],
    ["by its path", programOf("/usr/bin/git", "/usr/bin/git", "push", "origin"), "outside"],
    ["more words", programOf("/usr/bin/git", "git", "push", "origin", "--force"), "ask"],
    ["fewer words", programOf("/usr/bin/git", "git", "push"), "ask"],
    ["other words", programOf("/usr/bin/git", "git", "push", "other"), "ask"],
    ["another program of that name", programOf("/usr/bin/hg", "git", "push", "origin"), "ask"],
  ])("%s", (_, program, decision) => {
    expect(judgeProgram(gate, program).decision).toBe(decision);
  });

  it("and runs inside, where its rule says so", () => {
    const place = { kind: "inside" } as const;
    const ask: GateRule = { id: "r", decision: "ask", pattern: [["git"]], place };
    const inside = compileGate({ rules: [ask], hostExecutables: [], approved: [["git", "push"]] });
    expect(judgeProgram(inside, programOf("/usr/bin/git", "git", "push")).decision).toBe("run");
  });

  it("but refused", () => {
    const both = gateOf(
      [
        ["ask", "git"],
        ["refuse", "git", "push"],
      ],
      [],
      [["git", "push", "origin"]],
    );
    expect(judgeProgram(both, programOf("/usr/bin/git", "git", "push", "origin")).decision).toBe("refuse");
  });
});

describe("a rule may be for whole commands, and for names in any case", () => {
  const rule = (more: Partial<GateRule>): GateRule => ({
    id: "r",
    pattern: [["git"], ["push"]],
    decision: "refuse",
    place: { kind: "inside" },
    ...more,
  });
  it.each([
    ["whole, the same", { whole: true }, programOf("/usr/bin/git", "git", "push"), "refuse"],
    ["whole, more", { whole: true }, programOf("/usr/bin/git", "git", "push", "x"), "run"],
    ["canonical", { canonical: true }, programOf("/usr/bin/GIT", "GIT", "Push", "x"), "refuse"],
    ["not canonical", {}, programOf("/usr/bin/GIT", "GIT", "Push"), "run"],
  ] as const)("%s", (_, more, program, decision) => {
    expect(judgeProgram(compileWith(rule(more)), program).decision).toBe(decision);
  });
});

describe("the strictest of the rules that match decides, and is named", () => {
  const git = programOf("/usr/bin/git", "git", "push");
  it.each([
    [
      [
        ["allow", "git"],
        ["refuse", "git", "push"],
        ["ask", "git"],
      ],
      "refuse",
      "r1",
    ],
    [
      [
        ["allow", "git"],
        ["ask", "git"],
      ],
      "ask",
      "r1",
    ],
    [
      [
        ["allow", "git", "push"],
        ["allow", "git"],
      ],
      "outside",
      "r0",
    ],
  ] as [readonly Short[], string, string][])("%j", (rules, decision, id) => {
    expect(judgeProgram(gateOf(rules), git)).toMatchObject({ decision, rule: { id } });
  });
});

it("a host executable is allowed at its paths only, and refused anywhere", () => {
  const only = [{ name: "touch", paths: ["/opt/bin/touch"] }];
  expect(judgeProgram(gateOf([["allow", "touch"]], only), programOf("/usr/bin/touch")).decision).toBe("run");
  expect(judgeProgram(gateOf([["allow", "touch"]], only), programOf("/opt/bin/touch")).decision).toBe("outside");
  expect(judgeProgram(gateOf([["refuse", "touch"]], only), programOf("/usr/bin/touch")).decision).toBe("refuse");
});

it("a rule whose place is inside lets the program run there", () => {
  const rule: GateRule = { id: "keep", pattern: [["touch"]], decision: "allow", place: { kind: "inside" } };
  const decided = judgeProgram(compileWith(rule), programOf("/usr/bin/touch"));
  expect(decided).toEqual({ decision: "run", rule });
});

it("what applies unless a rule allows the program yields to one at a trusted path, and to no other", () => {
  const option = { letter: "f", name: "force" };
  const danger: GateRule = {
    id: "danger",
    pattern: [["rm"]],
    option,
    unlessAllowed: true,
    ...{ decision: "ask", place: { kind: "inside" } },
  };
  const allow: GateRule = {
    ...danger,
    ...{ id: "allow", pattern: [["rm"], ["-f"], ["x"]], whole: true, decision: "allow", unlessAllowed: false },
  };
  const judge = (...words: string[]) =>
    judgeProgram(compileGate({ ...NONE, rules: [danger, allow] }), programOf("/usr/bin/rm", ...words));
  expect(judge("rm", "-f", "x")).toEqual({ decision: "run", rule: allow });
  expect(judge("rm", "-f", "x", "y")).toEqual({ decision: "ask", rule: danger });
  const untrusted = { ...programOf("/w/rm", "rm", "-f", "x"), trust: "none" as const };
  expect(judgeProgram(compileGate({ ...NONE, rules: [danger, allow] }), untrusted).decision).toBe("ask");
  const strict: GateRule = { ...danger, id: "strict", unlessAllowed: false };
  const gate = compileGate({ ...NONE, rules: [danger, allow, strict] });
  expect(judgeProgram(gate, programOf("/usr/bin/rm", "rm", "-f", "x"))).toEqual({ decision: "ask", rule: strict });
});

it("a program without words, and one with more than are judged, are judged by their file", () => {
  const gate = gateOf([["refuse", "curl"]]);
  expect(judgeProgram(gate, { given: "/usr/bin/curl", file: "/usr/bin/curl", argv: [], trust: "name" }).decision).toBe(
    "refuse",
  );
  const many = Array.from({ length: 10_000 }, () => "x");
  expect(judgeProgram(gate, programOf("/usr/bin/curl", "curl", ...many)).decision).toBe("refuse");
});

describe("rules that are over a limit, or without words, are an error that names it", () => {
  const rule: GateRule = { id: "r", pattern: [["a"]], decision: "allow", place: { kind: "inside" } };
  it.each([
    ["too many", { rules: Array.from({ length: 4097 }, () => rule) }, "4097 rules"],
    ["too long", { rules: [{ ...rule, pattern: [["x".repeat(262_145)]] }] }, "262145 characters in rules"],
    ["no word", { rules: [{ ...rule, pattern: [] }] }, "the rule r"],
    ["a word without alternatives", { rules: [{ ...rule, pattern: [["a"], []] }] }, "the rule r"],
    ["too many approved", { approved: Array.from({ length: 257 }, () => ["a"]) }, "257 approved programs"],
    ["approved too long", { approved: [["x".repeat(65_537)]] }, "65537 characters in approved programs"],
  ])("%s", (_, rules, message) => {
    const compile = () => compileGate({ ...NONE, ...rules });
    expect(compile).toThrow(GateRuleError);
    expect(compile).toThrow(message);
  });
});
