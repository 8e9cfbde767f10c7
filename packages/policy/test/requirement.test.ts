import { createLazyShellParser } from "@codex/shell-analysis";
import { describe, expect, it } from "vitest";
import { analyzeCommand } from "../src/analyze-command.js";
import type { AnalyzedCommand } from "../src/analyzed-command.js";
import type { ApprovalPolicy } from "../src/approval-policy.js";
import { evaluateRequirement, type RequirementContext } from "../src/requirement.js";
import type { RuleMatch } from "../src/rules-port.js";

const shellParser = createLazyShellParser();
const script = (text: string): Promise<AnalyzedCommand> =>
  analyzeCommand(["/bin/bash", "-lc", text], undefined, shellParser);

const SAFE = await script("ls src");
const OTHER = await script("make all");
const OPAQUE = await script("make all && ls > out");
const DANGEROUS = await script("rm -rf build");
const HIDDEN = await script("cd build && sudo rm -r --force .");

const granular = (sandboxApproval: boolean, rules: boolean): ApprovalPolicy => ({
  granular: { sandboxApproval, rules },
});

type Cell = "skip" | "ask" | "refuse";
const KINDS: Record<Cell, string> = { skip: "skip", ask: "needsApproval", refuse: "forbidden" };

// command × policy: [unrestricted; restricted; restricted and escalation asked; restricted and extra permissions asked]
const TABLE: [string, AnalyzedCommand, ApprovalPolicy, [Cell, Cell, Cell, Cell]][] = [
  ["safe", SAFE, "never", ["skip", "skip", "refuse", "refuse"]],
  ["safe", SAFE, "on-request", ["skip", "skip", "ask", "ask"]],
  ["safe", SAFE, "on-failure", ["skip", "skip", "ask", "ask"]],
  ["safe", SAFE, "untrusted", ["skip", "skip", "ask", "ask"]],
  ["safe", SAFE, granular(true, true), ["skip", "skip", "ask", "ask"]],
  ["safe", SAFE, granular(false, true), ["skip", "skip", "refuse", "refuse"]],
  ["other", OTHER, "never", ["skip", "skip", "refuse", "refuse"]],
  ["other", OTHER, "on-request", ["skip", "skip", "ask", "ask"]],
  ["other", OTHER, "on-failure", ["skip", "skip", "ask", "ask"]],
  ["other", OTHER, "untrusted", ["ask", "ask", "ask", "ask"]],
  ["other", OTHER, granular(true, true), ["skip", "skip", "ask", "ask"]],
  ["other", OTHER, granular(false, true), ["skip", "skip", "refuse", "refuse"]],
  ["opaque", OPAQUE, "never", ["skip", "skip", "refuse", "refuse"]],
  ["opaque", OPAQUE, "on-request", ["skip", "skip", "ask", "ask"]],
  ["opaque", OPAQUE, "on-failure", ["skip", "skip", "ask", "ask"]],
  ["opaque", OPAQUE, "untrusted", ["ask", "ask", "ask", "ask"]],
  ["opaque", OPAQUE, granular(true, true), ["skip", "skip", "ask", "ask"]],
  ["opaque", OPAQUE, granular(false, true), ["skip", "skip", "refuse", "refuse"]],
  ["safe", SAFE, granular(true, false), ["skip", "skip", "ask", "ask"]],
  ["other", OTHER, granular(true, false), ["skip", "skip", "ask", "ask"]],
  ["dangerous", DANGEROUS, "never", ["refuse", "refuse", "refuse", "refuse"]],
  ["dangerous", DANGEROUS, "on-request", ["ask", "ask", "ask", "ask"]],
  ["dangerous", DANGEROUS, "on-failure", ["ask", "ask", "ask", "ask"]],
  ["dangerous", DANGEROUS, "untrusted", ["ask", "ask", "ask", "ask"]],
  ["dangerous", DANGEROUS, granular(true, false), ["ask", "ask", "ask", "ask"]],
  ["dangerous", DANGEROUS, granular(false, true), ["refuse", "refuse", "refuse", "refuse"]],
  ["hidden danger", HIDDEN, "never", ["refuse", "refuse", "refuse", "refuse"]],
  ["hidden danger", HIDDEN, "on-request", ["ask", "ask", "ask", "ask"]],
  ["hidden danger", HIDDEN, "untrusted", ["ask", "ask", "ask", "ask"]],
  ["hidden danger", HIDDEN, "on-failure", ["ask", "ask", "ask", "ask"]],
  ["hidden danger", HIDDEN, granular(true, true), ["ask", "ask", "ask", "ask"]],
  ["hidden danger", HIDDEN, granular(false, false), ["refuse", "refuse", "refuse", "refuse"]],
];

const PLACES: Pick<RequirementContext, "unrestricted" | "sandboxPermissions">[] = [
  { unrestricted: true, sandboxPermissions: "use_default" },
  { unrestricted: false, sandboxPermissions: "use_default" },
  { unrestricted: false, sandboxPermissions: "require_escalated" },
  { unrestricted: false, sandboxPermissions: "with_additional_permissions" },
];

describe("requirement without rules", () => {
  it.each(TABLE)("%s command under %j", (_name, command, approvalPolicy, cells) => {
    const kinds = PLACES.map((place) => evaluateRequirement(command, { ...place, approvalPolicy }).kind);
    expect(kinds).toEqual(cells.map((cell) => KINDS[cell]));
  });

  // The table of policies says that `on-request` asks when an override was requested: also while there is no sandbox
  // that it would lead out of. `untrusted` and `on-failure` ask there for what they ask about anyway.
  it.each(TABLE)(
    "%s command under %j asking for an override where nothing is restricted",
    (name, command, approvalPolicy) => {
      const isAsked = {
        never: false,
        "on-request": true,
        "on-failure": name.includes("danger"),
        untrusted: name !== "safe",
      };
      const { sandboxApproval = true } = typeof approvalPolicy === "object" ? approvalPolicy.granular : {};
      const asks = typeof approvalPolicy === "object" ? sandboxApproval : isAsked[approvalPolicy];
      const refuses = approvalPolicy === "never" || !sandboxApproval;
      for (const sandboxPermissions of ["require_escalated", "with_additional_permissions"] as const) {
        const found = evaluateRequirement(command, { unrestricted: true, sandboxPermissions, approvalPolicy });
        expect(found.kind).toBe(refuses ? "forbidden" : asks ? "needsApproval" : "skip");
      }
    },
  );

  it("never bypasses the sandbox by itself", () => {
    for (const [, command, approvalPolicy] of TABLE) {
      const found = evaluateRequirement(command, {
        approvalPolicy,
        unrestricted: true,
        sandboxPermissions: "use_default",
      });
      if (found.kind === "skip") expect(found.bypassSandbox).toBe(false);
    }
  });
});

describe("reasons", () => {
  const base = { sandboxPermissions: "use_default", unrestricted: true } as const;

  it("name the entry of the dangerous table and how to override it", () => {
    const found = evaluateRequirement(HIDDEN, { ...base, approvalPolicy: "never" });
    expect(found).toMatchObject({ kind: "forbidden", cause: { kind: "dangerous", entry: "rm-force" } });
    expect(found).toMatchObject({ reason: expect.stringMatching(/rm-force.*`never`.*a rule that allows/s) });
  });

  it("name the override and the policy that refuses it before anything else", () => {
    const escalated = { ...base, sandboxPermissions: "require_escalated" } as const;
    const found = evaluateRequirement(DANGEROUS, { ...escalated, approvalPolicy: granular(false, true) });
    expect(found).toMatchObject({ kind: "forbidden", cause: { kind: "override" } });
    expect(found).toMatchObject({ reason: expect.stringMatching(/sandbox_approval.*require_escalated/) });
  });

  it("ask about a command that is too large to be analyzed", async () => {
    const endless = await script(`echo ${"$(".repeat(10)}${"env ".repeat(3000)}`);
    expect(endless.literals.complete).toBe(false);
    const found = evaluateRequirement(endless, { ...base, approvalPolicy: "on-request" });
    expect(found).toMatchObject({ kind: "needsApproval", cause: { kind: "too_complex" } });
  });
});

describe("a command that cannot be analyzed, where nothing is asked and nothing is sandboxed", () => {
  const bypass = { sandboxPermissions: "use_default", approvalPolicy: "never", unrestricted: true } as const;
  const rules = (restricts: boolean) => ({ match: () => [], matchLonger: () => [], restricts });
  const cases: [string, string][] = [
    ["is long", `wc -c <<'EOF'\n${`${"x".repeat(1023)}\n`.repeat(100)}EOF`],
    ["is nested", `${"( ".repeat(300)}echo deep${" )".repeat(300)}`],
    ["is not a script", "echo 'open"],
  ];
  it.each(cases)("runs although it %s", async (_, text) => {
    expect(evaluateRequirement(await script(text), { ...bypass, rules: rules(false) }).kind).toBe("skip");
  });

  it("is refused with its size and a way to go on where a rule might restrict it", async () => {
    const found = evaluateRequirement(await script(cases[0]?.[1] ?? ""), { ...bypass, rules: rules(true) });
    expect(found).toMatchObject({
      kind: "forbidden",
      reason: expect.stringMatching(/\d{6} bytes.*65536 bytes.*in parts/),
    });
  });
});

describe("requirement with rules", () => {
  const rulesFor = (program: string, ...matches: RuleMatch[]) => ({
    match: (words: readonly string[]) => (words[0] === program ? matches : []),
    matchLonger: () => [],
    restricts: matches.some(({ decision }) => decision !== "allow"),
  });
  const allow: RuleMatch = { decision: "allow", rule: "r-allow" };
  const keep: RuleMatch = { decision: "allow", rule: "r-keep", sandbox: "keep" };
  const prompt: RuleMatch = { decision: "prompt", rule: "r-prompt", justification: "ask the owner" };
  const forbid: RuleMatch = { decision: "forbidden", rule: "r-forbid", justification: "use make" };
  const base = { approvalPolicy: "untrusted", sandboxPermissions: "use_default", unrestricted: false } as const;

  it("replaces the heuristic: an allowed command does not ask and bypasses the sandbox", () => {
    expect(evaluateRequirement(OTHER, { ...base, rules: rulesFor("make", allow) })).toEqual({
      kind: "skip",
      bypassSandbox: true,
    });
    expect(evaluateRequirement(DANGEROUS, { ...base, approvalPolicy: "never", rules: rulesFor("rm", allow) })).toEqual({
      kind: "skip",
      bypassSandbox: true,
    });
  });

  it("keeps the sandbox where the rule says so, or where not every command has a rule", () => {
    expect(evaluateRequirement(OTHER, { ...base, rules: rulesFor("make", allow, keep) })).toMatchObject({
      bypassSandbox: false,
    });
    const two: AnalyzedCommand = {
      commands: [["make"], ["ls"]],
      isSplit: true,
      literals: { commands: [], complete: true },
    };
    expect(evaluateRequirement(two, { ...base, rules: rulesFor("make", allow) })).toEqual({
      kind: "skip",
      bypassSandbox: false,
    });
  });

  it("asks for an override of a command that a rule allows in the sandbox only", () => {
    for (const sandboxPermissions of ["require_escalated", "with_additional_permissions"] as const) {
      const asking = { ...base, sandboxPermissions };
      expect(evaluateRequirement(OTHER, { ...asking, rules: rulesFor("make", allow) }).kind).toBe("skip");
      expect(evaluateRequirement(OTHER, { ...asking, rules: rulesFor("make", keep) })).toMatchObject({
        kind: "needsApproval",
        cause: { kind: "override" },
      });
    }
  });

  it("takes the strictest of several rules, and says its justification", () => {
    const found = evaluateRequirement(OTHER, { ...base, rules: rulesFor("make", allow, prompt, forbid) });
    expect(found).toMatchObject({ kind: "forbidden", cause: { kind: "rule", rule: "r-forbid" } });
    expect(found).toMatchObject({ reason: expect.stringContaining("use make") });
  });

  it("refuses what a rule wants asked when rules may not ask", () => {
    const rules = rulesFor("make", prompt);
    expect(evaluateRequirement(OTHER, { ...base, rules, approvalPolicy: granular(true, false) }).kind).toBe(
      "forbidden",
    );
    expect(evaluateRequirement(OTHER, { ...base, rules, approvalPolicy: granular(false, true) }).kind).toBe(
      "needsApproval",
    );
    expect(evaluateRequirement(OTHER, { ...base, rules, approvalPolicy: "never" })).toMatchObject({
      kind: "forbidden",
      reason: expect.stringContaining("r-prompt"),
    });
  });

  it("refuses when only one of two questions may be asked", () => {
    const both: AnalyzedCommand = {
      commands: [["make"], ["rm", "-f", "x"]],
      isSplit: true,
      literals: { commands: [], complete: true },
    };
    const rules = rulesFor("make", prompt);
    expect(evaluateRequirement(both, { ...base, rules, approvalPolicy: granular(false, true) })).toMatchObject({
      kind: "forbidden",
      cause: { kind: "dangerous" },
    });
  });

  it("sees a forbidden command inside an opaque one, and lets no rule allow an opaque one by its parts", () => {
    expect(evaluateRequirement(OPAQUE, { ...base, rules: rulesFor("make", forbid) }).kind).toBe("forbidden");
    const allowAll = {
      matchLonger: () => [],
      restricts: false,
      match: (words: readonly string[]) => (words[0] === "/bin/bash" ? [] : [allow]),
    };
    expect(evaluateRequirement(OPAQUE, { ...base, rules: allowAll }).kind).toBe("needsApproval");
  });
});

// In a restricted sandbox. policy × rule: [as it is; escalation asked; extra permissions asked]; `out` leaves the sandbox.
type RuledCell = Cell | "out";
const POLICIES: Record<string, ApprovalPolicy> = {
  never: "never",
  "on-request": "on-request",
  "on-failure": "on-failure",
  untrusted: "untrusted",
  "granular, all": granular(true, true),
  "granular, no rules": granular(true, false),
  "granular, no sandbox": granular(false, true),
};
const RULED: Record<string, Record<"allow" | "keep" | "prompt" | "forbid", [RuledCell, RuledCell, RuledCell]>> = {
  never: {
    allow: ["out", "refuse", "refuse"],
    keep: ["skip", "refuse", "refuse"],
    prompt: ["refuse", "refuse", "refuse"],
    forbid: ["refuse", "refuse", "refuse"],
  },
  "on-request": {
    allow: ["out", "out", "out"],
    keep: ["skip", "ask", "ask"],
    prompt: ["ask", "ask", "ask"],
    forbid: ["refuse", "refuse", "refuse"],
  },
  "on-failure": {
    allow: ["out", "out", "out"],
    keep: ["skip", "ask", "ask"],
    prompt: ["ask", "ask", "ask"],
    forbid: ["refuse", "refuse", "refuse"],
  },
  untrusted: {
    allow: ["out", "out", "out"],
    keep: ["skip", "ask", "ask"],
    prompt: ["ask", "ask", "ask"],
    forbid: ["refuse", "refuse", "refuse"],
  },
  "granular, all": {
    allow: ["out", "out", "out"],
    keep: ["skip", "ask", "ask"],
    prompt: ["ask", "ask", "ask"],
    forbid: ["refuse", "refuse", "refuse"],
  },
  "granular, no rules": {
    allow: ["out", "out", "out"],
    keep: ["skip", "ask", "ask"],
    prompt: ["refuse", "refuse", "refuse"],
    forbid: ["refuse", "refuse", "refuse"],
  },
  "granular, no sandbox": {
    allow: ["out", "refuse", "refuse"],
    keep: ["skip", "refuse", "refuse"],
    prompt: ["ask", "refuse", "refuse"],
    forbid: ["refuse", "refuse", "refuse"],
  },
};
const RULES = {
  allow: { decision: "allow", rule: "r" },
  keep: { decision: "allow", rule: "r", sandbox: "keep" },
  prompt: { decision: "prompt", rule: "r" },
  forbid: { decision: "forbidden", rule: "r" },
} satisfies Record<string, RuleMatch>;

describe("requirement with one rule, in a restricted sandbox", () => {
  const cells = Object.entries(RULED).flatMap(([policy, row]) =>
    Object.entries(row).map(([rule, expected]) => [policy, rule as keyof typeof RULES, expected] as const),
  );
  it.each(cells)("under %s, a rule with %s: %j", (policy, rule, expected) => {
    for (const [name, command] of [
      ["other", OTHER],
      ["safe", SAFE],
      ["dangerous", DANGEROUS],
    ] as const) {
      const match = (words: readonly string[]) => (words[0]?.startsWith("/bin/") ? [] : [RULES[rule]]);
      const rules = { restricts: RULES[rule].decision !== "allow", match, matchLonger: () => [] };
      const found = (["use_default", "require_escalated", "with_additional_permissions"] as const).map(
        (sandboxPermissions) => {
          const context = { approvalPolicy: POLICIES[policy]!, sandboxPermissions, unrestricted: false, rules };
          const needed = evaluateRequirement(command, context);
          return needed.kind === "skip" && needed.bypassSandbox ? "out" : needed.kind;
        },
      );
      expect(found, name).toEqual(expected.map((cell) => (cell === "out" ? "out" : KINDS[cell])));
    }
  });
});
