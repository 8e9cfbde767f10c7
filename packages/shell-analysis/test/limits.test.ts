import { describe, expect, it } from "vitest";
import {
  MAX_COPY_GUESSES,
  MAX_EFFORT,
  MAX_FILE_COMPARISONS,
  MAX_GUESS_WORDS,
  MAX_GUESSES,
  MAX_LITERAL_COMMANDS,
  MAX_NESTING,
  MAX_PARSE_MS,
  MAX_ROUNDS,
  MAX_SCRIPT_BYTES,
  MAX_TEXT_GUESSES,
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
      MAX_LITERAL_COMMANDS: 4_096,
      MAX_EFFORT: 200_000,
    });
    expect({ MAX_FILE_COMPARISONS, MAX_GUESSES, MAX_GUESS_WORDS, MAX_ROUNDS }).toEqual({
      MAX_FILE_COMPARISONS: 200_000,
      MAX_GUESSES: 1_024,
      MAX_GUESS_WORDS: 64,
      MAX_ROUNDS: 3,
    });
  });

  it("compares so many files that are run with so many words, and says that another command may make them", () => {
    const runs = (files: number) =>
      Array.from({ length: files }, (_, at) => `sh f${at}\ntouch g${at} ${"a ".repeat(98)}`).join("\n");
    expect(find(runs(40)).complete).toBe(true);
    expect(find(runs(60)).unclear).toContain("too many files");
    expect(find(`sh ${"*a".repeat(30)}b; cc ${"a".repeat(5_000)} ${"a".repeat(200)}`).unclear).toContain("may make");
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
    const { guesses, complete } = find(`owntool ${"a ".repeat(MAX_GUESSES)}`);
    expect({ count: guesses?.length, longest: guesses?.[0]?.length, complete }).toEqual({
      count: MAX_GUESS_WORDS,
      longest: MAX_GUESS_WORDS,
      complete: true,
    });
    expect(find(`owntool ${"a ".repeat(MAX_GUESSES + 1)}`).complete).toBe(false);
  });

  it("guesses so many commands in texts of other languages, and says that there may be more", () => {
    expect(MAX_TEXT_GUESSES).toBe(16_384);
    const text = (count: number) =>
      `python3 <<'E'\n${Array.from({ length: count }, (_, at) => `x${at}`).join("\n")}\nE`;
    const { guesses = [], complete } = find(text(2_000));
    expect([guesses.length, complete]).toEqual([2_000, true]);
    expect(findLiteralCommands(parser, ["gdb", "-ex", text(MAX_TEXT_GUESSES + 1)]).complete).toBe(false);
  });

  it("guesses so many copies of programs, and says that there may be more", () => {
    expect(MAX_COPY_GUESSES).toBe(1_024);
    const copies = (count: number) => `${Array.from({ length: count }, (_, at) => `cp /d/${at} .;`).join("")}:`;
    expect(find(copies(MAX_COPY_GUESSES)).complete).toBe(true);
    expect(find(`${copies(MAX_COPY_GUESSES)}; cp /bin/zap q; ./q x`).complete).toBe(false);
    const numbers = Array.from({ length: 3_000 }, (_, at) => at);
    const product = `cp ${numbers.map((at) => `/${at}`).join(" ")} b; ${numbers.map((at) => `b ${at};`).join("")}:`;
    expect(find(product).complete).toBe(false);
  });

  it("compares so many programs with downloads, and says that one may be loaded", () => {
    const script = (count: number) =>
      Array.from({ length: count }, (_, at) => `/a${at}; curl -o b${at} u:/`).join("\n");
    expect(find(script(50)).complete).toBe(true);
    expect(find(script(300)).unclear).toContain("too many files");
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
    ["programs with paths", Array.from({ length: 8_000 }, (_, at) => `/a${at};`).join("")],
  ])("takes a short time for %s", (_name, script) => {
    const { user } = process.cpuUsage();
    find(script);
    expect(process.cpuUsage({ user, system: 0 }).user).toBeLessThan(4_000_000);
  });

  it("reads a script again only so often", () => {
    const chain = Array.from({ length: MAX_ROUNDS + 3 }, (_, index) => `v${index + 1}=$(echo $v${index})`)
      .reverse()
      .join("\n");
    expect(find(`${chain}\nv0=rm\n$v2 x`).commands).toContainEqual(["rm", "x"]);
    expect(find(`${chain}\nv0=rm\n$v${MAX_ROUNDS + 3} x`).complete).toBe(false);
    expect(find('PATH="/x:$PATH"; x="$x a"; for f in a b; do x="$x $f"; i=$((i + 1)); done').complete).toBe(true);
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
    ["forks", `${"coproc ".repeat(40)}x`],
    ["ambiguous operands", `${"timeout ".repeat(60)}x`],
    ["braces", "{a,b}".repeat(6)],
    [
      "functions",
      `${Array.from({ length: 40 }, (_, index) => `f${index}() { f${index + 1}; f${index + 1}; }`).join("\n")}\nf0`,
    ],
    ["loops that end nowhere", "for x in a; ".repeat(150)],
    ["options of unknown programs", "own ".repeat(1_000)],
    ["find", `find ${"-exec ls ".repeat(7_000)}`],
    ["twelve shells", Array.from({ length: 12 }).reduce<string>((inner) => `bash -c ${JSON.stringify(inner)}`, "rm")],
  ])("looks through %s to the end", (_name, script) => expect(find(script, patientParser).complete).toBe(true));
});
