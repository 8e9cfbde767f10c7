import { describe, expect, it } from "vitest";
import { MAX_BRACE_LENGTH, MAX_COMMAND_LENGTH, MAX_COMMAND_WORDS, MAX_GUESSES } from "../src/limits.js";
import { findLiteralCommands, findScriptCommands } from "../src/literal-commands.js";
import { loadShellParser } from "../src/parser.js";
import { plainName } from "../src/program-name.js";
import { expandBraces } from "../src/words.js";
import { findNestedCommands } from "../src/wrappers.js";

const parser = await loadShellParser();
const find = (...argv: string[]) => findLiteralCommands(parser, argv);
const words = (count: number, word = "a") => Array.from({ length: count }, () => word);

describe("bounds of words", () => {
  it("are these", () => {
    expect({ MAX_COMMAND_WORDS, MAX_COMMAND_LENGTH, MAX_BRACE_LENGTH }).toEqual({
      MAX_COMMAND_WORDS: 16_384,
      MAX_COMMAND_LENGTH: 262_144,
      MAX_BRACE_LENGTH: 65_536,
    });
  });

  it("searches commands of so many words, and says that there may be more", () => {
    expect(find("echo", ...words(MAX_COMMAND_WORDS - 1)).complete).toBe(true);
    expect(find("echo", ...words(MAX_COMMAND_WORDS)).complete).toBe(false);
    expect(find("echo", "a".repeat(MAX_COMMAND_LENGTH - 4)).complete).toBe(true);
    expect(find("echo", "a".repeat(MAX_COMMAND_LENGTH)).complete).toBe(false);
    const long = ["rm", ...words(MAX_COMMAND_WORDS)];
    expect(find(...long)).toMatchObject({ commands: [long], complete: false });
    expect(findNestedCommands(["env", ...long])).toMatchObject({
      inner: [],
      unclear: expect.stringContaining("too long"),
    });
  });

  it.each([
    ["one long word", `env {A=1,B=2,C=3,rm,-rf,/x,${"p".repeat(30_000)}}`],
    ["many words", `env {${Array.from({ length: 70 }, (_, index) => `A${index}=1`)},rm,-rf,/x}`],
    ["the program among them", `{env,${Array.from({ length: 70 }, (_, index) => `A${index}=1`)},rm,-rf,/x}`],
    ["products", "{a,b}".repeat(1_000)],
    ["a text that is not parsed", `((env {A=1,B=2,C=3,rm,-rf,/x,${"p".repeat(30_000)}}`],
  ])("says that it does not know all words of a list in braces with %s", (_name, script) => {
    expect(find("bash", "-c", script).complete).toBe(false);
  });

  it("looks for files of a script that is rejected in the targets of its redirections too", () => {
    expect(findScriptCommands(parser, "sed -n 'w f' <<< 'zap x'; sh f\n((").unclear).toBeDefined();
  });

  it.each([
    ["bash-5.2", "bash"],
    ["bash5-static", "bash"],
    ["sh.distrib", "sh"],
    ["python3.11", "python"],
    ["lua-5_4", "lua"],
    [`${"1".repeat(60)}a`, `${"1".repeat(60)}a`],
    [`a${"-1".repeat(50)}`, "a"],
  ])("reads the name %s", (program, name) => expect(plainName(program)).toBe(name));

  it.each([
    ["digits in a name", [`${"1".repeat(60)}a`]],
    ["Perl's options", ["env", `PERL5OPT=${"-MDevel::Cover".repeat(60)} x`, "perl"]],
    ["signs of a pattern", ["bash", "-c", "==#".repeat(20_000)]],
    ["blanks of a slice", ["bash", "-c", `a=b; x $\u007ba:${" ".repeat(2_000)}0${" ".repeat(2_000)}x}`]],
    ["brackets before a pattern", ["bash", "-c", `${"[ ".repeat(10_000)} == a`]],
    ["tests in one line", ["bash", "-c", "[ a == b ]; ".repeat(3_000)]],
  ])("reads %s once", (_name, argv) => expect(find(...argv).commands).toContainEqual(argv));

  it.each([
    ["an unknown shell", ["foosh", "-c"]],
    ["a program in no table", ["own"]],
    ["an unknown option", ["sudo", "--zap"]],
  ])("keeps few words for %s", (_name, argv) => {
    const { guesses = [], complete } = find(...argv, ...words(10_000, "-c"));
    expect(guesses.reduce((sum, each) => sum + each.length, 0)).toBeLessThanOrEqual(MAX_GUESSES * 65);
    expect(complete).toBe(false);
  });

  it("expands the braces of long words to few", () => {
    expect(expandBraces("{a,b}".repeat(10_000)).length).toBeLessThan(5);
    expect(expandBraces("{a,b}{c,d}")).toEqual(["ac", "ad", "bc", "bd"]);
    expect(expandBraces("{a..c}")).toEqual(["a", "c", "a..c\ufffe"]);
    expect(expandBraces(`{${",".repeat(1_000)}`)).toEqual([`{${",".repeat(1_000)}`]);
  });

  it("visits the commands of xargs while they are short", () => {
    expect(find("bash", "-c", "echo zap | xargs -I{} sh -c '{} x'").complete).toBe(false);
    expect(find("bash", "-c", "echo push | xargs git").commands).toContainEqual(["git", "push"]);
  });

  it("follows values of variables up to a length", () => {
    const double = (times: number) => `a=zap; ${"a=$a$a; ".repeat(times)} $a x`;
    expect(find("bash", "-c", double(0)).commands).toContainEqual(["zap", "x"]);
    const long = `a=${"x".repeat(10_000)}; a=${"$a".repeat(10)}; $a x`;
    expect(find("bash", "-c", long).unclear).toContain("known only at run time");
  });
});
