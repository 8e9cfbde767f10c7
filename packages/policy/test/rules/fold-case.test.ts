import { describe, expect, it } from "vitest";
import { checkCommand } from "../../src/rules/check-command.js";
import { parseRulePolicy } from "../../src/rules/load-policy.js";

const isSame = (pattern: string, token: string) => {
  const text = `prefix_rule(["a", ${JSON.stringify(pattern)}], canonical_matching=True)`;
  return checkCommand(parseRulePolicy([{ file: "a.rules", text }]), ["A", token]).decision === "allow";
};

describe("canonical matching", () => {
  it.each([
    ["push", "PUSH"],
    ["straße", "STRASSE"],
    ["ß", "ẞ"],
    ["é", "E\u0301"],
    ["σ", "ς"],
    ["ΟΔΟΣ", "οδος"],
    ["ﬁ", "FI"],
    ["\u212a", "k"],
    ["İ", "i\u0307"],
    ["Ꭰ", "ꭰ"],
  ])("takes %s for %s", (pattern, token) =>
    expect([isSame(pattern, token), isSame(token, pattern)]).toEqual([true, true]),
  );

  it.each([
    ["ı", "i"],
    ["①", "1"],
    ["e", "é"],
    ["-x", "--x"],
    ["a b", "a  b"],
  ])("tells %s from %s", (pattern, token) => expect(isSame(pattern, token)).toBe(false));
});
