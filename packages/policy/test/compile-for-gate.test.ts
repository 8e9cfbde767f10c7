import { compileGate, judgeProgram } from "@codex/exec-gate";
import { describe, expect, it } from "vitest";
import type { ApprovalPolicy } from "../src/approval-policy.js";
import { compileForGate } from "../src/compile-for-gate.js";
import { parseRulePolicy } from "../src/rules/load-policy.js";

const compile = (text: string, policy: ApprovalPolicy = "on-request") =>
  compileForGate(parseRulePolicy([{ file: "/rules/a.rules", text }]), policy);

/** The decision about a program in a directory that the command cannot change. */
function judge(text: string, argv: readonly string[], path = `/usr/bin/${argv[0]}`, policy?: ApprovalPolicy) {
  const { rules, hostExecutables } = compile(text, policy);
  const gate = compileGate({ rules, hostExecutables, approved: [] });
  return judgeProgram(gate, { given: path, file: path, argv, trust: path.startsWith("/ws/") ? "none" : "name" })
    .decision;
}

const placeOf = (text: string) => compile(text).rules.map(({ place, env }) => ({ ...place, ...(env ? { env } : {}) }));

it.each([
  ["the network", 'outside="network"', { kind: "outside", profile: "network" }],
  ["a directory", 'outside={"write": ["/srv/./x"]}', { kind: "outside", profile: { write: ["/srv/x"] } }],
  ["variables", 'env=["GIT_*"]', { kind: "outside", profile: "unrestricted", env: ["GIT_*"] }],
])("a rule adds %s", (_, words, place) => {
  expect(placeOf(`prefix_rule(["git", "push"], ${words})`)).toEqual([place]);
});

it("what a rule asks about runs where the rule says, else inside", () => {
  expect(placeOf('prefix_rule(["git"], decision="prompt")')).toEqual([{ kind: "inside" }]);
  expect(placeOf('prefix_rule(["git"], decision="prompt", outside="network")')).toEqual([
    { kind: "outside", profile: "network" },
  ]);
});

const granular = (rules: boolean): ApprovalPolicy => ({ granular: { sandboxApproval: true, rules } });

describe("a rule of a file means the same for a program", () => {
  it.each([
    ["allowed: outside", 'prefix_rule(["touch"])', ["touch", "f"], "outside"],
    ["allowed in the sandbox", 'prefix_rule(["touch"], sandbox="keep")', ["touch", "f"], "run"],
    ["forbidden", 'prefix_rule(["curl"], decision="forbidden")', ["curl", "x"], "refuse"],
    ["asked about", 'prefix_rule(["git", "push"], decision="prompt")', ["git", "push", "x"], "ask"],
    ["further words", 'prefix_rule(["git", "push"], decision="prompt")', ["git", "pull"], "run"],
    ["alternatives", 'prefix_rule([["npm", "yarn"], ["add", "i"]], decision="forbidden")', ["yarn", "i"], "refuse"],
    ["a whole command", 'prefix_rule(["git", "push"], whole=True)', ["git", "push", "--force"], "run"],
    ["any case", 'prefix_rule(["CURL"], decision="forbidden", canonical_matching=True)', ["curl"], "refuse"],
    ["a shell, which runs everything: inside", 'prefix_rule(["bash"])', ["bash", "-c", "x"], "run"],
    ["a program of many that runs others: inside", 'prefix_rule([["touch", "bash"]])', ["touch"], "run"],
    ["a shell that its rule lets out", 'prefix_rule(["bash"], outside="unrestricted")', ["bash"], "outside"],
    ["another program", 'prefix_rule(["mkdir"])', ["touch", "f"], "run"],
    [
      "the strictest",
      'prefix_rule(["touch"])\nprefix_rule(["touch", "f"], decision="forbidden")',
      ["touch", "f"],
      "refuse",
    ],
  ] as const)("%s", (_, text, argv, decision) => {
    expect(judge(text, argv)).toBe(decision);
  });

  it("a program is allowed where it is declared, and refused anywhere", () => {
    const declared = 'host_executable("touch", ["/opt/bin/touch"])\n';
    expect(judge(`${declared}prefix_rule(["touch"])`, ["touch"])).toBe("run");
    expect(judge(`${declared}prefix_rule(["touch"])`, ["touch"], "/opt/bin/touch")).toBe("outside");
    expect(judge(`${declared}prefix_rule(["touch"], decision="forbidden")`, ["touch"], "/ws/touch")).toBe("refuse");
  });
});

describe("where the approval policy does not ask, what is asked about is refused", () => {
  it.each([
    ["on-request", "ask"],
    ["untrusted", "ask"],
    ["never", "refuse"],
    [granular(true), "ask"],
    [granular(false), "refuse"],
  ] as const)("%j", (policy, decision) => {
    expect(judge('prefix_rule(["curl"], decision="prompt")', ["curl"], undefined, policy)).toBe(decision);
  });

  it("which the rule says", () => {
    const { sources } = compile('prefix_rule(["curl"], decision="prompt")', "never");
    expect([...sources.values()]).toMatchObject([{ refusing: "approval policy `never` does not ask" }]);
  });
});

describe("a rule keeps its place", () => {
  it("as its pattern with file and line, and its justification", () => {
    const text = '\nprefix_rule([["a", "b"], "c"], decision="forbidden", justification="use d")';
    const { rules, sources } = compile(text);
    expect(rules).toEqual([{ id: "1", pattern: [["a", "b"], ["c"]], decision: "refuse", place: { kind: "inside" } }]);
    expect(sources.get("1")).toEqual({
      rule: '[["a", "b"], "c"] (/rules/a.rules:2)',
      origin: { file: "/rules/a.rules", line: 2 },
      justification: "use d",
      refusing: undefined,
    });
  });
});

describe("a file that does not load", () => {
  it("asks about the programs that it may have forbidden", () => {
    const broken = 'prefix_rule(["rm"], decision="forbiden")';
    expect(judge(broken, ["rm", "x"])).toBe("ask");
    expect(judge(broken, ["rm", "x"], "/bin/RM")).toBe("ask");
    expect(judge(broken, ["ls"])).toBe("run");
    expect(judge(broken, ["rm", "x"], undefined, "never")).toBe("refuse");
    expect([...compile(broken).sources.values()]).toMatchObject([{ rule: "file /rules/a.rules" }]);
  });

  it("that may have forbidden everything is for the text of the command", () => {
    expect(compile("for x in [").rules).toEqual([]);
  });
});

describe("what is over a limit is left out, the most lenient first", () => {
  const many = Array.from({ length: 4096 }, (_, index) => `prefix_rule(["p${index}"])`).join("\n");
  it("rules that allow", () => {
    const { rules, unheld } = compile(`${many}\nprefix_rule(["rm"], decision="forbidden")`);
    expect([rules.length, rules[0]?.pattern, unheld]).toEqual([4096, [["rm"]], []]);
  });

  it("rules that forbid, which are then named", () => {
    const { rules, unheld } = compile(
      `prefix_rule(["${"x".repeat(300_000)}"], decision="forbidden")\nprefix_rule(["rm"], decision="forbidden")`,
    );
    expect(rules.map(({ pattern }) => pattern)).toEqual([[["rm"]]]);
    expect(unheld).toMatchObject([{ origin: { file: "/rules/a.rules", line: 1 } }]);
  });
});
