import { describe, expect, it } from "vitest";
import { proposeAmendment } from "../../src/rules/amendment.js";
import { parseRulePolicy } from "../../src/rules/load-policy.js";

describe("proposeAmendment", () => {
  const policy = parseRulePolicy([
    { file: "a.rules", text: 'prefix_rule(["ls"])\nprefix_rule(["npm", "publish"], decision="prompt")\n' },
  ]);
  const test = ["npm", "test"];

  it("takes what the model suggests when it allows every command", () => {
    const commands = [["wc", "-l", "a"], ["wc", "-l"], ["ls"]];
    expect(proposeAmendment({ policy, commands, suggested: ["wc", "-l"], asking: test })).toEqual(["wc", "-l"]);
  });

  it.each([
    ["does not cover a command", [test, ["make"]], ["npm"]],
    ["does not match at all", [test], ["yarn"]],
    ["is banned", [["python3", "x.py"]], ["python3"]],
    ["is empty", [test], []],
    ["is weaker than a rule that asks", [["npm", "publish"], test], ["npm"]],
  ])("takes the command that asks when the suggestion %s", (_name, commands, suggested) => {
    const [asking = []] = commands.filter((command) => command[1] !== "publish");
    expect(proposeAmendment({ policy, commands, suggested, asking })).toEqual(asking);
  });

  it("takes the command that asks when nothing is suggested", () => {
    expect(proposeAmendment({ policy, commands: [["ls"], test], asking: test })).toEqual(test);
  });

  it.each([
    ["nothing asks", [test], undefined],
    ["a rule asks", [["npm", "publish"]], ["npm", "publish"]],
    ["the command leaves open what runs", [["sudo"]], ["sudo"]],
    ["nothing is to be amended", [], test],
  ])("proposes nothing when %s", (_name, commands, asking) => {
    expect(proposeAmendment({ policy, commands, asking })).toBeUndefined();
  });

  it("proposes nothing that a broken file may forbid", () => {
    const broken = parseRulePolicy([{ file: "a.rules", text: 'prefix_rule(["npm"], decision="deny")' }]);
    expect(proposeAmendment({ policy: broken, commands: [test], suggested: ["npm"], asking: test })).toBeUndefined();
  });
});
