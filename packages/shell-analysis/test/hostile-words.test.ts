import { describe, expect, it } from "vitest";
import { MAX_BRACE_LENGTH, MAX_COMMAND_LENGTH, MAX_COMMAND_WORDS, MAX_GUESSES, MAX_REST_WORDS } from "../src/limits.js";
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
    expect({ MAX_COMMAND_WORDS, MAX_COMMAND_LENGTH, MAX_REST_WORDS, MAX_BRACE_LENGTH }).toEqual({
      MAX_COMMAND_WORDS: 16_384,
      MAX_COMMAND_LENGTH: 262_144,
      MAX_REST_WORDS: 65_536,
      MAX_BRACE_LENGTH: 65_536,
    });
  });

  it("searches commands of so many words, and says that there may be more", () => {
    expect(find("echo", ...words(MAX_COMMAND_WORDS - 1)).complete).toBe(true);
    expect(find("echo", ...words(MAX_COMMAND_WORDS)).complete).toBe(false);
    expect(find("echo", "a".repeat(MAX_COMMAND_LENGTH - 4)).complete).toBe(true);
    expect(find("echo", "a".repeat(MAX_COMMAND_LENGTH)).complete).toBe(false);
    const long = ["rm", ...words(MAX_COMMAND_WORDS)];
    expect(find(...long)).toEqual({ commands: [long], complete: false });
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

  it("looks for the options of a shell behind a startup file's name", () => {
    expect(find("bash", "-c", "ENV=f bash --rcfile g --posix -i").unclear).toContain("ENV");
  });

  it.each(["bash", "ksh"])("sees a declaration in a default value that %s runs", (shell) => {
    expect(find(shell, "-c", "$\u007bq:-declare -l z}; z=RM; $z -rf /x").commands).toContainEqual(["rm", "-rf", "/x"]);
    expect(find(shell, "-c", "$\u007bq:-typeset -L 2 z}; z=rmx; $z -rf /x").unclear).toBeDefined();
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
    [
      "blanks of two slices",
      ["bash", "-c", `a=b; x $\u007ba:${" ".repeat(2_000)}0${" ".repeat(2_000)}:${" ".repeat(2_000)}x}`],
    ],
  ])("reads %s once", (_name, argv) => expect(find(...argv).commands).toContainEqual(argv));

  it.each([
    ["an unknown option of git", ["git", "--zap"]],
    ["an unknown shell", ["foosh", "-c"]],
    ["commands after an option", ["nix", "-c"]],
  ])("keeps few words for %s", (_name, argv) => {
    const { inner, guesses } = findNestedCommands([...argv, ...words(10_000, "-c")]);
    const kept = [...inner, ...guesses].map((each) => {
      if (each.kind === "command") return each.argv.length;
      return each.kind === "script" ? each.args.length : 0;
    });
    expect(kept.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(Math.max(MAX_REST_WORDS, MAX_GUESSES * 65));
  });

  it("keeps few words for prefixes of cmd, and says that there may be more", () => {
    const { inner } = findNestedCommands(["cmd", "/c", "if", ...words(10_000, "A")]);
    expect(inner.filter(({ kind }) => kind === "suffixes")).toHaveLength(2);
    expect(inner.length).toBeLessThan(10);
    expect(findNestedCommands(["cmd", "/c", "if", "1==1", "RM", "x"]).inner).toContainEqual({
      kind: "command",
      argv: ["rm", "x"],
    });
  });

  it("finds what an option takes as a command, and guesses where there are too many", () => {
    expect(findNestedCommands(["nix", "-c", "zap", "y"]).inner).toContainEqual({ kind: "command", argv: ["zap", "y"] });
    const { inner } = findNestedCommands(["nix", ...words(10_000, "-c")]);
    expect(inner).toContainEqual({ kind: "suffixes", words: words(10_000, "-c") });
  });

  it("expands the braces of long words to few", () => {
    const text = "{a,b}".repeat(10_000);
    expect(expandBraces(text).length).toBeLessThan(5);
    expect(expandBraces("{a,b}{c,d}")).toEqual(["ac", "ad", "bc", "bd"]);
    expect(expandBraces("{a..c}{-1..1}")).toHaveLength(16);
    expect(expandBraces(`{${",".repeat(1_000)}`)).toEqual([`{${",".repeat(1_000)}`]);
  });

  const numbers = (count: number) => Array.from({ length: count }, (_, at) => at);

  it("visits the commands of xargs while they are short, and says that there may be more", () => {
    const lines = (count: number) => `printf '${"a\\n".repeat(count)}' | xargs -I{} sh -c '${"{} ".repeat(2_000)}'`;
    expect(find("bash", "-c", "echo zap | xargs -I{} sh -c '{} x'").commands).toContainEqual(["zap", "x"]);
    expect(find("bash", "-c", lines(2_000)).complete).toBe(false);
  });

  it("follows values of variables up to a length", () => {
    const double = (times: number) => `a=zap; ${"a=$a$a; ".repeat(times)} $a x`;
    expect(find("bash", "-c", double(0)).complete).toBe(true);
    const long = `a=${"x".repeat(10_000)}; a=${"$a".repeat(10)}; $a x`;
    expect(find("bash", "-c", long).unclear).toContain("known only at run time");
    expect(find("bash", "-c", `a=${"x".repeat(16_000)}; ${"a+=$a; ".repeat(5_000)} $a x`).complete).toBe(false);
  });

  it.each([
    ["variables of many scripts", numbers(4_000).map((at) => `v${at}=b; sh -c 'w=x ${at}'`)],
    [
      "variables of many calls",
      [...numbers(4_000).map((at) => `v${at}=b`), "f() { x $1; }", ...numbers(2_000).map((at) => `f ${at}`)],
    ],
    ["long inputs", [`echo ${"a,".repeat(15_000)} | (`, ...numbers(1_500).map((at) => `read x${at}`), ")"]],
    [
      "files and arguments",
      [...numbers(3_000).map((at) => `echo a>f${at}`), ...numbers(40).map((at) => `python ${"a ".repeat(300)} ${at}`)],
    ],
    ["long words and files that are run", [...numbers(1_000).map((at) => `sh f${at}`), `cc ${"a/".repeat(20_000)}`]],
    ["arguments of many scripts", [`su ${"u -c a ".repeat(3_000)}`]],
    ["words of tar that may be scripts", [`tar IF ${"a".repeat(300)} ${numbers(14_000).join(" ")}`]],
    ["strings of env", [`env ${"-Sa ".repeat(9)} b`]],
  ])("gives up on %s", (_name, lines) => expect(find("bash", "-c", lines.join("\n")).complete).toBe(false));

  it("keeps few words for arguments that are shifted", () => {
    const words = numbers(8_000).map((at) => `a${at}`);
    const { commands } = find("bash", "-c", `set -- ${words.join(" ")}; shift; $1 x`);
    expect(commands).toContainEqual(["a3", "x"]);
  });
});
