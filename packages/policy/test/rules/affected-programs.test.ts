import { describe, expect, it } from "vitest";
import { checkCommand } from "../../src/rules/check-command.js";
import { parseRulePolicy } from "../../src/rules/load-policy.js";

const BROKEN = "\nprefix_rule(]\n";
const isAsked = (text: string, argv: string[]) => {
  const policy = parseRulePolicy([{ file: "a.rules", text }]);
  expect(policy.broken).toHaveLength(1);
  return checkCommand(policy, argv).decision === "prompt";
};

describe("the strictest reading of a file that does not load", () => {
  it.each([
    ['prefix_rule(["rm"], decision="forbidden")', ["rm", "x"]],
    ['prefix_rule(["rm"], decision="forbidden")', ["/bin/rm", "x"]],
    ['prefix_rule(["rm"], decision="forbidden")', ["RM", "x"]],
    ['prefix_rule(["/usr/bin/rm"], "forbidden")', ["rm"]],
    ['prefix_rule([["mv", "rm"], "-f"], decision="prompt")', ["rm"]],
    ['prefix_rule(["rm"], decision="deny")', ["rm"]],
    ['prefix_rule(["rm"], desicion="forbidden")', ["rm"]],
    ['prefix_rule(["rm"], **{"decision": "forbidden"})', ["rm"]],
    ['prefix_rule(["rm"], decision="forbidden"', ["rm"]],
    ['prefix_rule(pattern=["rm", decision="forbidden")', ["rm"]],
    ['for p in ["rm", "mv"]:\n  prefix_rule([p], decision="forbidden")', ["mv"]],
    ['P = ["rm"]\nprefix_rule(P, decision="forbidden")', ["rm"]],
    ['P = "rm"\nprefix_rule([P], decision="forbidden")', ["rm"]],
    ['if True:\n  prefix_rule(["rm"], decision="forbidden")', ["rm"]],
    ['def f(): prefix_rule(["rm"], decision="forbidden")\nf()', ["rm"]],
    ['prefix_rule(["r" + "m"], decision="forbidden")', ["rm"]],
    ['prefix_rule([f"r{1}m"], decision="forbidden")', ["rm"]],
    ['prefix_rule(["mr"[::-1]], decision="forbidden")', ["rm"]],
    ['prefix_rule("rm -rf".split(), decision="forbidden")', ["rm"]],
    ['X = ["xrm"[1:]]', ["rm"]],
    ['X = ["\\x72m"]\nprefix_rule(X, "forbidden")', ["rm"]],
    ["X = [chr(114)]", ["anything"]],
    ['prefix_rule(["rm"], decision="forbidden', ["rm"]],
    ['prefix_rule([,"rm"], decision="forbidden")', ["rm"]],
    ['prefix_rule([["mv"\n,"rm"\n,"cp"]], decision="forbidden", !)', ["rm"]],
    ['prefix_rule(\npattern=[\n"rm"\n,\n"x"], decision="forbidden" y)', ["rm"]],
    ['prefix_rule(\n[\n["mv"\n,\n"rm"\n]], "forbidden"', ["rm"]],
    ['f(\n"rm"\n,"dd"\n', ["rm"]],
    ['f(\n"mv"\n\n# c\n"rm"\n', ["rm"]],
    ['P = [\n"rm"\n,"dd"\n', ["rm"]],
    ["P = [\n'rm'\n\"dd\"\n", ["rm"]],
    ['P = "mv" \\\n"rm"', ["rm"]],
  ])("asks after %j for %j", (text, argv) => expect(isAsked(text + BROKEN, argv)).toBe(true));

  it.each([
    ['prefix_rule(["rm"], decision="forbidden")', ["ls"]],
    ['prefix_rule(["ls"])', ["ls"]],
    ['prefix_rule(["ls"], decision="allow", match=["ls x"])', ["ls"]],
    ['prefix_rule(["ls"], "allow", ["ls x"])', ["ls"]],
    ['host_executable("ls", ["/bin/ls"])', ["ls"]],
    ['network_rule("ls", "http", "forbidden")', ["ls"]],
    ['"""About ls."""', ["ls"]],
    ["# ls", ["ls"]],
  ])("does not ask after %j for %j", (text, argv) => expect(isAsked(text + BROKEN, argv)).toBe(false));

  it("reads the rules around a rule with a failing example", () => {
    const text = 'prefix_rule(["ls"], match=["cd"])\nprefix_rule(["rm"], decision="forbidden")\nprefix_rule(["cp"])\n';
    expect(["ls", "rm", "cp"].map((program) => isAsked(text, [program]))).toEqual([false, true, false]);
  });

  it("lets nothing that the file would have allowed", () => {
    const policy = parseRulePolicy([{ file: "a.rules", text: `prefix_rule(["ls"])${BROKEN}` }]);
    expect(checkCommand(policy, ["ls"])).toEqual({ matchedRules: [] });
  });

  it("shows file and error among what matched", () => {
    const policy = parseRulePolicy([{ file: "a.rules", text: 'prefix_rule(["rm"], decision="deny")' }]);
    expect(checkCommand(policy, ["rm"])).toEqual({
      matchedRules: [
        {
          brokenFileMatch: {
            file: "a.rules",
            decision: "prompt",
            error: 'a.rules:1:1: "deny" is not a decision. Use one of allow, prompt, forbidden.',
          },
        },
      ],
      decision: "prompt",
    });
  });
});
