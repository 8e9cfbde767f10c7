import { describe, expect, it } from "vitest";
import { fileOfRule, renderAllowRule } from "../../src/rules/allow-rule.js";
import { proposeAmendment } from "../../src/rules/amendment.js";
import { checkCommand } from "../../src/rules/check-command.js";
import { parseRulePolicy } from "../../src/rules/load-policy.js";
import { findPrefixBan } from "../../src/rules/saved-rules.js";

const words = (text: string) => text.split(" ");
const rule = (text: string) => ({ words: words(text), keepsSandbox: false });
/** What the saved rule decides about a command. */
const decide = (saved: string, command: string) =>
  checkCommand(parseRulePolicy([{ file: "a.rules", text: renderAllowRule(rule(saved)) }]), words(command)).decision;

describe("a saved rule", () => {
  it.each(["ls", "cat a", "/usr/bin/grep -r x", "head -n"])(
    "of a program that runs nothing else is a prefix: %s",
    (saved) => {
      expect(decide(saved, `${saved} more`)).toBe("allow");
      expect(fileOfRule("/h/rules/default.rules", rule(saved))).toBe("/h/rules/default.rules");
    },
  );

  it.each([
    "php-cgi x.php",
    "trickle -d 10 wget x",
    "ttyd top",
    "bats a.bats",
    "enable -f ./x.so x",
    "busctl call a b c d",
    "wrk -s a.lua http://h",
    "ghc -pgmF x a.hs",
    "clang -Xclang -load a.so a.c",
    "npm test",
    "make",
    "find . -name x",
    "sort a",
    "uniq a",
    "xxd a",
    "shuf a",
    "tree a",
    "base64 a",
    "rg x",
    "./ls",
    "sudo ls",
    "a-program-that-nobody-knows x",
  ])("of any other program is one whole command, in a file that Codex does not read: %s", (saved) => {
    expect(findPrefixBan(words(saved))).toBeUndefined();
    expect(decide(saved, saved)).toBe("allow");
    expect(decide(saved, `${saved} more`)).toBeUndefined();
    expect(fileOfRule("/h/rules/default.rules", rule(saved))).toBe("/h/rules/whole/default.rules");
  });

  it.each([
    "bash",
    "sh -s",
    "python3",
    "python3.12 -",
    "perl -w",
    "node -i a.js",
    "sudo bash",
    "env A=1 sh",
    "xargs rm",
    "ssh host sh",
    "awk",
    "sqlite3",
  ])("does not allow a program that runs what it reads: %s", (saved) =>
    expect(findPrefixBan(words(saved))).toMatch(/runs what it reads/),
  );

  it.each(["python3 x.py", "bash -c ls", "sudo bash build.sh", "xargs wc", "node build.js --watch"])(
    "allows a command that says what it runs: %s",
    (saved) => expect(findPrefixBan(words(saved))).toBeUndefined(),
  );

  it.each([
    ["php-cgi a.php", "php-cgi"],
    ["wrk -s a.lua http://h", "wrk -s"],
    ["npm test", "npm"],
    ["enable -f a.so x", "enable -f"],
  ])("is offered as the whole command where the model suggests a beginning of it: %s", (command, suggested) => {
    const policy = parseRulePolicy([]);
    const asking = words(command);
    expect(proposeAmendment({ policy, commands: [asking], suggested: words(suggested), asking })).toEqual(asking);
  });

  it("is offered as the model's prefix where its program runs nothing else", () => {
    const request = {
      policy: parseRulePolicy([]),
      commands: [words("ls -l a"), words("ls b")],
      asking: words("ls -l a"),
    };
    expect(proposeAmendment({ ...request, suggested: ["ls"] })).toEqual(["ls"]);
  });
});
