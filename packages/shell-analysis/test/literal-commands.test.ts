import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { findLiteralCommands } from "../src/literal-commands.js";
import { loadShellParser } from "../src/parser.js";

interface Row {
  script?: string;
  argv?: string[];
  /** Must be among the commands. */
  finds?: string[][];
  /** No command may begin with these words. */
  not?: string[][];
  /** It is not plain: instead of `finds`, there may be guesses, or a reason to ask. */
  asked?: boolean;
}

const rows: Row[] = JSON.parse(readFileSync(new URL("./corpus/literal.json", import.meta.url), "utf8"));
const parser = await loadShellParser();
const startsWith = (argv: readonly string[], prefix: readonly string[]) =>
  prefix.every((word, at) => argv[at] === word);

describe("findLiteralCommands", () => {
  it.each(rows.map((row) => [JSON.stringify(row.argv ?? row.script), row] as const))("%s", (_title, row) => {
    const { script = "", argv = ["bash", "-lc", script], finds = [], not = [], asked = false } = row;
    const { commands, guesses = [], complete } = findLiteralCommands(parser, argv);
    if (!asked || complete) expect([...commands, ...(asked ? guesses : [])]).toEqual(expect.arrayContaining(finds));
    if (!asked) expect(complete).toBe(true);
    for (const prefix of not) expect(commands.filter((command) => startsWith(command, prefix))).toEqual([]);
  });

  it("begins with the command itself and lists each command once", () => {
    expect(findLiteralCommands(parser, ["bash", "-c", "ls; ls; ls -a"]).commands).toEqual([
      ["bash", "-c", "ls; ls; ls -a"],
      ["ls"],
      ["ls", "-a"],
    ]);
    expect(findLiteralCommands(parser, [])).toEqual({ commands: [], complete: true });
  });

  it("guesses what an option that is not known hides, also beside a split string with a variable", () => {
    const argv = ["env", "-S", "$\u007bx}", "--frobnicate", "v", "zap", "y"];
    expect(findLiteralCommands(parser, argv).guesses).toContainEqual(["zap", "y"]);
  });

  it.each(["'", '"', "$'", "`", "$(", "<", ">", "\\", "   ", "{,}", "$'\\x", "a=(", "<(", "\0", "}", ";;", "${"])(
    "reads the unfinished %j without failing",
    (script) => expect(findLiteralCommands(parser, ["bash", "-lc", script]).commands.length).toBeGreaterThan(0),
  );

  it("says where a command begins whose next word is known only at run time", () => {
    expect(findLiteralCommands(parser, ["bash", "-c", "git $(cat f) x; ls | xargs docker"]).beginnings).toEqual([
      ["git"],
      ["docker"],
    ]);
  });
});
