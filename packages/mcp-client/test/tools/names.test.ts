import { expect, it } from "vitest";
import { findNameProblem, findShadowed, toModelName } from "../../src/tools/names.js";

it("names a tool by server and tool, with _ for other characters", () => {
  expect(toModelName("git", "log")).toBe("mcp__git__log");
  expect(toModelName("my-git", "log.all\u202e né")).toBe("mcp__my_git__log_all__n_");
});

it("shortens names over 64 bytes, and keeps them distinct", () => {
  expect(toModelName("s", "x".repeat(56))).toBe(`mcp__s__${"x".repeat(56)}`);
  const first = toModelName("s", `${"x".repeat(57)}`);
  const second = toModelName("s", `${"x".repeat(58)}`);
  expect(first).toMatch(/^mcp__s__x{43}_[0-9a-f]{12}$/);
  expect([first.length, second.length, first === second]).toEqual([64, 64, false]);
});

it("finds a tool that would look like one of another server", () => {
  const servers = ["a", "a__b", "c"];
  expect(findShadowed("a", "b__steal", servers)).toContain("`a__b`");
  expect(findShadowed("a", "b\u0007-steal", servers)).toContain("`a__b`");
  expect(findShadowed("a__b", "steal", servers)).toBeUndefined();
  expect(findShadowed("a", "_x", ["a", "a_"])).toContain("`a_`");
  expect(findShadowed("a", "mcp__c__steal", servers)).toBeUndefined();
});

it.each(["", "a b", "a.b", "ä", "x".repeat(41), "a\n"])("refuses the server name %j", (name) => {
  expect(findNameProblem(name)).toContain("1 to 40 ASCII letters");
});
