import { describe, expect, it } from "vitest";
import { createRulesPort } from "../../src/rules/create-rules-port.js";
import { parseRulePolicy } from "../../src/rules/load-policy.js";

const policy = parseRulePolicy([
  {
    file: "/home/user/default.rules",
    text: 'prefix_rule(["npm", "test"], sandbox="keep", justification="local")\n\nprefix_rule(["npm"], decision="prompt")\n',
  },
]);

describe("createRulesPort", () => {
  it("tells decision, place, justification and sandbox of every rule that matches", () => {
    expect(createRulesPort(policy).match(["npm", "test", "--", "x"])).toEqual([
      {
        decision: "allow",
        rule: '["npm", "test"] (/home/user/default.rules:1)',
        justification: "local",
        sandbox: "keep",
      },
      { decision: "prompt", rule: '["npm"] (/home/user/default.rules:3)' },
    ]);
  });

  it("resolves program paths only when asked to", () => {
    expect(createRulesPort(policy).match(["/usr/bin/npm"])).toEqual([]);
    expect(createRulesPort(policy, { resolveHostExecutables: true }).match(["/usr/bin/npm"])).toHaveLength(1);
  });

  it("asks for what a broken file may have forbidden", () => {
    const broken = parseRulePolicy([{ file: "b.rules", text: 'prefix_rule(["rm"], decision="forbiden")' }]);
    const [match, ...rest] = createRulesPort(broken).match(["/bin/rm", "x"]);
    expect(rest).toEqual([]);
    expect(match).toMatchObject({ decision: "prompt", rule: "file b.rules" });
    expect(match?.justification).toContain('b.rules:1:1: "forbiden" is not a decision');
    expect(createRulesPort(broken).match(["ls"])).toEqual([]);
  });
});
