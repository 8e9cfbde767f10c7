import type { Command } from "commander";
import { describe, expect, it } from "vitest";
import { renderNotes } from "../src/program/help.js";
import { createProgram } from "../src/program.js";
import { useCommand } from "./support.js";

const listCommands = (command: Command, path = "codex"): { path: string; command: Command }[] => [
  { path, command },
  ...command.commands.flatMap((child) => listCommands(child, `${path} ${child.name()}`)),
];
const commands = listCommands(createProgram());

it("no command ignores arguments that it does not take", () => {
  const takesMore = commands.filter(({ command }) => Reflect.get(command, "_allowExcessArguments") === true);
  // These two say themselves what is wrong.
  expect(takesMore.map(({ path }) => path)).toEqual(["codex", "codex sessions"]);
});

describe("help", () => {
  it.each(commands)("of $path is in one style", ({ command }) => {
    const help = command.createHelp();
    const visible = help.visibleOptions(command);
    const descriptions = [
      command.description(),
      ...visible.map(({ description }) => description),
      ...command.registeredArguments.map(({ description }) => description),
    ];
    for (const text of descriptions) expect(text).toMatch(/^(?![a-z]+ ).+[^.\s]$/s);
    for (const option of visible) expect(help.optionDescription(option)).not.toMatch(/default: (\[\]|false)/);
  });

  it.each(["codex", "codex run", "codex sessions", "codex exec-server"])("of %s is wrapped", async (path) => {
    const command = useOnce();
    const { code, stdout } = await command([...path.split(" ").slice(1), "--help"]);
    expect(code).toBe(0);
    const example = /^ {2}(codex|export|eval) /;
    const long = stdout.split("\n").filter((line) => line.length > 80 && !example.test(line));
    expect(long).toEqual([]);
  });

  it("wraps what stands below the options, and hangs the meaning of a code", () => {
    const notes = { text: ["one two three"], exitCodes: [["1", "four five"] as const], examples: ["a b c d e f"] };
    expect(renderNotes(notes, 9)).toBe(
      "\none two\nthree\n\nExit codes:\n  1  four\n     five\n\nExamples:\n  a b c d e f",
    );
  });

  it.each([
    [["rn"], "Did you mean run", "Try: codex --help"],
    [["run"], "missing required argument 'program'", "Try: codex run --help"],
    [["run", "--timeout", "0", "true"], "more than 0", "Try: codex run --help"],
    [["sessions", "read", "x"], 'got "x"', "Try: codex sessions read --help"],
    [["execpolicy", "explain"], "missing required argument", "Try: codex execpolicy explain --help"],
    [["doctor", "x"], "too many arguments", "Try: codex doctor --help"],
    [["sessions", "list", "x"], "too many arguments", "Try: codex sessions list --help"],
    [["exec", "fix", "the", "tests"], "\nA prompt of several words goes in quotes\n", "Try: codex exec --help"],
    [["exec", "resume", "1", "go", "on"], "\nA prompt of several words", "Try: codex exec resume --help"],
  ])("is named after the error of %j", async (args, message, hint) => {
    const { code, stderr } = await useOnce()(args);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
    expect(stderr).toMatch(/^codex: /);
    expect(stderr.trimEnd().split("\n").at(-1)).toBe(hint);
  });

  it.each([
    [["-c", "model=x", "sandbox", "true"], "-c belongs to codex sandbox, codex tools call, "],
    [["--config=model=x", "sandbox"], "--config belongs to "],
    [["--executor", "ws://127.0.0.1:1", "run", "true"], "--executor belongs to codex run, "],
    [["tools", "--executor", "x", "list"], "--executor belongs to codex tools list, "],
  ])("says where an option belongs: %j", async (args, message) => {
    const { code, stderr } = await useOnce()(args);
    expect([code, stderr]).toEqual([2, expect.stringContaining(`\nOptions follow their command; ${message}`)]);
  });

  it.each([
    [
      ["run", "--timeout", "'abc\"", "true"],
      /^codex: option '--timeout <seconds>': expected seconds, .*, got "'abc\\""\n/,
    ],
    [["executor", "--max-sessions", "0"], /^codex: option '--max-sessions <n>': expected .*, got "0"\n/],
    [["sessions", "kill", "x"], /^codex: argument 'id': expected a whole number of at least 1, got "x"\n/],
    [["run", "-s", "none", "true"], /^codex: option '-s, --sandbox <mode>' argument 'none' is invalid\. Allowed/],
    [["run", "--no-such", "true"], /^codex: unknown option '--no-such'\nTry: /],
  ])("shows a value once: %j", async (args, message) => {
    const { code, stderr } = await useOnce()(args);
    expect([code, stderr]).toEqual([2, expect.stringMatching(message)]);
  });

  it.each([[["cloud", "fix it"], "OpenAI's codex has `cloud`; this is another program"]])(
    "says whose command %j is",
    async (args, message) => {
      const { code, stderr } = await useOnce()(args);
      expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
    },
  );

  const { run } = useCommand();
  const useOnce = () => async (args: string[]) => {
    const { code, stdout, stderr } = await run(args);
    return { code, stdout: stdout.toString(), stderr };
  };
});
