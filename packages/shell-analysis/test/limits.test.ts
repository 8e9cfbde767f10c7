import { describe, expect, it } from "vitest";
import {
  MAX_EFFORT,
  MAX_GUESS_WORDS,
  MAX_GUESSES,
  MAX_LITERAL_COMMANDS,
  MAX_NESTING,
  MAX_PARSE_MS,
  MAX_SCRIPT_BYTES,
  MAX_TREE_DEPTH,
  MAX_TREE_NODES,
} from "../src/limits.js";
import { findLiteralCommands } from "../src/literal-commands.js";
import { loadShellParser } from "../src/parser.js";
import { splitScript } from "../src/split.js";

const parser = await loadShellParser();
const find = (script: string, by = parser) => findLiteralCommands(by, ["bash", "-c", script]);

/** Its time is never over: what is bounded by counts does not depend on how busy the machine is. */
const patientParser = await loadShellParser({ now: () => 0 });

describe("bounds of scripts", () => {
  it("are these", () => {
    expect({ MAX_SCRIPT_BYTES, MAX_PARSE_MS, MAX_TREE_NODES, MAX_TREE_DEPTH }).toEqual({
      MAX_SCRIPT_BYTES: 65_536,
      MAX_PARSE_MS: 250,
      MAX_TREE_NODES: 50_000,
      MAX_TREE_DEPTH: 256,
    });
    expect({ MAX_NESTING, MAX_LITERAL_COMMANDS, MAX_EFFORT }).toEqual({
      MAX_NESTING: 400,
      MAX_LITERAL_COMMANDS: 16_384,
      MAX_EFFORT: 4_194_304,
    });
    expect({ MAX_GUESSES, MAX_GUESS_WORDS }).toEqual({ MAX_GUESSES: 1_024, MAX_GUESS_WORDS: 64 });
  });

  it("counts bytes of the script", () => {
    const fits = `echo ${"é".repeat((MAX_SCRIPT_BYTES - 5) / 2)}`;
    expect(splitScript(parser, fits)).toHaveLength(1);
    expect(splitScript(parser, `${fits}é`)).toBeNull();
    expect(find(`${fits}é`).complete).toBe(false);
  });

  it("finds commands even where a script is too large, and says that there may be more", () => {
    const { commands, complete } = find(`rm -rf x\n# ${"x".repeat(MAX_SCRIPT_BYTES)}`);
    expect(complete).toBe(false);
    expect(commands).toContainEqual(["rm", "-rf", "x"]);
  });

  it("stops parsing at its deadline and parses the next script from its start", async () => {
    let time = 0;
    const impatient = await loadShellParser({ now: () => (time += MAX_PARSE_MS) });
    expect(impatient.parse("echo a b c; ".repeat(1_000))).toBeUndefined();
    expect(splitScript(impatient, "ls")).toEqual([["ls"]]);
  });

  it("guesses so many places of a command, and says that there may be more", () => {
    const { guesses = [], complete } = find(`owntool ${"a ".repeat(MAX_GUESSES)}`);
    expect(Math.max(...guesses.map((words) => words.length))).toBe(MAX_GUESS_WORDS);
    expect(complete).toBe(true);
    expect(find(`owntool ${"a ".repeat(MAX_GUESSES + 1)}`).complete).toBe(false);
  });

  it("guesses so many commands in texts of other languages, and says that there may be more", () => {
    const text = (count: number) =>
      `python3 <<'E'\n${Array.from({ length: count }, (_, at) => `x${at}`).join("\n")}\nE`;
    expect(find(text(2_000)).complete).toBe(true);
    expect(findLiteralCommands(parser, ["gdb", "-ex", text(MAX_LITERAL_COMMANDS)]).complete).toBe(false);
  });

  it.each([
    ["expansions in a group", `\${ ${"$\u007ba}".repeat(16_000)}`],
    ["few expansions in a group", `\${ ${"$\u007ba}".repeat(40)}`],
    ["a pattern with many stars", `a=${"a".repeat(1_000)}; x \${a/${"*a".repeat(10)}b/}`],
    ["a long pattern", `a=${"a".repeat(1_000)}; x \${a/${"*a".repeat(20_000)}b/}`],
    ["backslashes in code", `python3 -c '${"\\".repeat(65_000)}'`],
    ["lists of loops", "for a in ".repeat(7_000)],
    ["subscripts", "$a['".repeat(16_000)],
    ["repeated long values", `a=${"a".repeat(30_000)};${"echo $a $a;".repeat(3_000)}`],
    ["braces", "{1..9}".repeat(10_000)],
    ["cut values", `a=${"a".repeat(30_000)}; x ${"$\u007ba%%*b}".repeat(4_000)}`],
    ["replaced values", `a=${"ab".repeat(15_000)}; x ${"$\u007ba//a/bb}".repeat(3_000)}`],
    ["files", Array.from({ length: 3_000 }, (_, at) => `echo a${at}>f${at}; . f${at};`).join("")],
    ["values of many variables", Array.from({ length: 3_000 }, (_, at) => `a${at}=b; x $a${at}`).join("\n")],
    ["a file that is written often", "echo aaaaaaaaaa >> f; ".repeat(2_500)],
    ["open quotes", "'\"".repeat(30_000)],
    ["starts of here-documents", "<<a".repeat(20_000)],
    ["dots and stars of zsh", "a.*(".repeat(15_000)],
    ["programs with paths", Array.from({ length: 8_000 }, (_, at) => `/a${at};`).join("")],
  ])("takes a short time for %s", (_name, script) => {
    const { user } = process.cpuUsage();
    find(script);
    expect(process.cpuUsage({ user, system: 0 }).user).toBeLessThan(4_000_000);
  });

  it.each([
    ["a deep tree", `${"$(".repeat(MAX_TREE_DEPTH)}rm${")".repeat(MAX_TREE_DEPTH)}`],
    ["many commands", Array.from({ length: MAX_LITERAL_COMMANDS }, (_, index) => `a${index}`).join("\n")],
    ["scripts in scripts", "eval ".repeat(10_000)],
    ["wrappers in wrappers", `${"sudo ".repeat(1_000)}x`],
    ["endless here-documents", "a<<x ".repeat(5_000)],
    ["endless arrays", "a=( ".repeat(8_000)],
    ["quotes", '"'.repeat(60_001)],
  ])("gives up on %s", (_name, script) => {
    expect(find(script).complete).toBe(false);
  });

  it.each([
    ["braces", "x {a,b}{a,b}{a,b}"],
    [
      "functions",
      `${Array.from({ length: 40 }, (_, index) => `f${index}() { f${index + 1}; f${index + 1}; }`).join("\n")}\nf0`,
    ],
    ["options of unknown programs", "own ".repeat(1_000)],
    ["find", `find ${"-exec ls ".repeat(7_000)}`],
    ["twelve shells", Array.from({ length: 12 }).reduce<string>((inner) => `bash -c ${JSON.stringify(inner)}`, "rm")],
  ])("looks through %s to the end", (_name, script) => expect(find(script, patientParser).complete).toBe(true));
});
