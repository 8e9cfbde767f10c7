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

const HELD = { asks: true, danger: true };

const list = (book: RuleBook, policy: "never" | "on-request", asks = false) =>
  book.gateFor(policy, { asks, danger: false })?.rules.map(({ pattern }) => pattern[0]?.[0]);

describe("what is held for each program", () => {
  it("is what is forbidden, and what asks where nobody is asked", () => {
    const book = createBook();
    expect(list(book, "on-request")).toEqual(["rm"]);
    expect(list(book, "never")?.sort()).toEqual(["curl", "rm"]);
    expect(list(book, "on-request", true)?.sort()).toEqual(["curl", "rm"]);
    expect(list(createBook('prefix_rule(["ls"])'), "never")).toBeUndefined();
  });

  it("is compiled once, until a rule is saved", async () => {
    const book = createBook();
    const before = book.gateFor("on-request", HELD);
    expect(book.gateFor("on-request", HELD)).toBe(before);
    expect(await book.save(["make", "test"])).toBeUndefined();
    expect(book.gateFor("on-request", HELD)).not.toBe(before);
    expect(book.gateFor("on-request", HELD)).toEqual(before);
  });
});
