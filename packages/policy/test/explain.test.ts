import { createLazyShellParser } from "@codex/shell-analysis";
import { describe, expect, it } from "vitest";
import { analyzeCommand } from "../src/analyze-command.js";
import { explainCommand } from "../src/explain.js";
import { evaluateRequirement } from "../src/requirement.js";
import { createEffectiveRules } from "../src/rule-book.js";
import { parseRulePolicy } from "../src/rules/load-policy.js";

const shellParser = createLazyShellParser();
const rules = parseRulePolicy([
  {
    file: "a.rules",
    text: `prefix_rule(pattern=["git", "status"], decision="allow")
prefix_rule(pattern=["ls"], decision="allow", sandbox="keep")
prefix_rule(pattern=["curl"], decision="forbidden")`,
  },
]);
const context = {
  rules,
  cwd: "/w",
  approvalPolicy: "untrusted",
  sandboxPermissions: "use_default",
  unrestricted: false,
  os: "linux",
} as const;
const RESTRICTING = `prefix_rule(pattern=["git", "push"], decision="prompt")
prefix_rule(pattern=["curl"], decision="forbidden")`;
const explain = async (script: string) =>
  explainCommand(await analyzeCommand(["bash", "-lc", script], undefined, shellParser), context);

describe("explainCommand", () => {
  it("says of each plain command what it comes to", async () => {
    const { commands, isSplit, inside, isComplete, why } = await explain("git status && ls && pwd && make");
    expect(commands.map((command) => [command.words[0], command.requirement, command.why])).toEqual([
      ["git", "skip", "a rule allows it, outside the sandbox"],
      ["ls", "skip", "a rule allows it, in the sandbox"],
      ["pwd", "skip", "it is known to be safe"],
      ["make", "needsApproval", expect.stringContaining("`untrusted`")],
    ]);
    expect({ isSplit, inside, isComplete }).toEqual({ isSplit: true, inside: [], isComplete: true });
    expect(why).toBe(commands[3]?.why);
  });

  it("says where a program runs that its rule starts outside", async () => {
    const text = 'prefix_rule(["git", "push"], outside="network")';
    const rules = parseRulePolicy([{ file: "a.rules", text }]);
    const explainWith = async (script: string) =>
      explainCommand(await analyzeCommand(["bash", "-lc", script], undefined, shellParser), { ...context, rules });
    const where =
      "a rule allows it, with the network, and otherwise as restricted as before, where programs are judged when they start";
    expect((await explainWith("git push")).commands[0]?.why).toBe(where);
    expect((await explainWith("(git push)")).inside[0]?.why).toBe(`${where}, but not the command that contains it`);
  });

  it("sets what is only spelled out inside apart", async () => {
    const { commands, isSplit, inside } = await explain("(git status; curl x)");
    expect(isSplit).toBe(false);
    expect(commands).toMatchObject([{ words: ["bash", "-lc", "(git status; curl x)"], requirement: "needsApproval" }]);
    expect(inside).toMatchObject([
      { words: ["git", "status"], requirement: "skip" },
      { words: ["curl", "x"], requirement: "forbidden" },
    ]);
  });

  it("says what only the start of a program can settle", async () => {
    const found = explainCommand(
      await analyzeCommand(["bash", "-lc", "git $(cat verb) x; python3 -c 'run(\"curl u\")'"], undefined, shellParser),
      { ...context, approvalPolicy: "on-request", rules: parseRulePolicy([{ file: "b.rules", text: RESTRICTING }]) },
    );
    expect(found.begun).toMatchObject([{ words: ["git"], requirement: "needsApproval" }]);
    expect(found.guessed).toMatchObject([{ words: ["curl", "u"], requirement: "needsApproval" }]);
    expect([found.requirement.kind, found.whereHeld?.kind]).toEqual(["needsApproval", "skip"]);
    expect((await explain("git status")).whereHeld).toBeUndefined();
  });

  it.each([
    "git status",
    "ls; git status",
    "make",
    "sudo rm -f x",
    "env curl x",
    "for x in a; do ls; done",
    "a <<E\nE",
  ])("comes to what the policy comes to: %j", async (script) => {
    const judged = await analyzeCommand(["bash", "-lc", script], undefined, shellParser);
    const expected = evaluateRequirement(judged, { ...context, rules: createEffectiveRules(rules, "/w") });
    expect((await explain(script)).requirement).toEqual(expected);
  });
});
