// The rules that an executor holds for each program of a command.
import { describe, expect, it } from "vitest";
import { parseRulePolicy, RuleBook } from "../src/index.js";

const TEXT = `
prefix_rule(["rm"], decision="forbidden")
prefix_rule(["curl"], decision="prompt")
prefix_rule(["ls"])
`;

const createBook = (text = TEXT) =>
  new RuleBook(parseRulePolicy([{ file: "default.rules", text }]), async () => ({ file: "saved.rules", line: 1 }));

const HELD = { asks: true, danger: true, leaves: false };

const list = (book: RuleBook, policy: "never" | "on-request", asks = false) =>
  book.gateFor(policy, { asks, danger: false, leaves: false })?.rules.map(({ pattern }) => pattern[0]?.[0]);

describe("what is held for each program", () => {
  it("is what is forbidden, and what asks where nobody is asked", () => {
    const book = createBook();
    expect(list(book, "on-request")).toEqual(["rm"]);
    expect(list(book, "never")?.sort()).toEqual(["curl", "rm"]);
    expect(list(book, "on-request", true)?.sort()).toEqual(["curl", "rm"]);
    expect(list(createBook('prefix_rule(["ls"])'), "never")).toBeUndefined();
  });

  it("is what leaves the sandbox, where there is one", () => {
    const book = createBook('prefix_rule(["git", "push"])\nprefix_rule(["ls"], sandbox="keep")\nprefix_rule(["bash"])');
    const held = { asks: true, danger: false };
    expect(book.gateFor("on-request", { ...held, leaves: true })?.rules).toMatchObject([
      { pattern: [["git"], ["push"]] },
    ]);
    expect(book.gateFor("on-request", { ...held, leaves: false })).toBeUndefined();
  });

  it("is compiled once, until a rule is saved", async () => {
    const book = createBook();
    const before = book.gateFor("on-request", HELD);
    expect(book.gateFor("on-request", HELD)).toBe(before);
    expect(await book.save({ words: ["make", "test"], keepsSandbox: false })).toBeUndefined();
    expect(book.gateFor("on-request", HELD)).not.toBe(before);
    expect(book.gateFor("on-request", HELD)).toEqual(before);
  });

  it("is, of what stays in the sandbox, what allows a dangerous command where those are held", () => {
    const book = createBook('prefix_rule(["ls"], sandbox="keep")\nprefix_rule(["/bin/rm", "-f"], sandbox="keep")');
    const rules = book.gateFor("on-request", HELD)?.rules;
    expect(rules?.map(({ decision, pattern }) => [decision, pattern[0]])).toEqual([
      ["ask", ["rm"]],
      ["allow", ["/bin/rm"]],
    ]);
    expect(book.gateFor("on-request", { ...HELD, danger: false })).toBeUndefined();
  });
});
