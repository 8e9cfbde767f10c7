import { describe, expect, it } from "vitest";
import { createProgram } from "../src/program.js";
import { findQuickCommand, parseQuickly } from "../src/quick-arguments.js";
import { describeQuickCommands } from "../src/quick-commands.js";

const quick = describeQuickCommands(createProgram());

/** What commander makes of the options of a command. */
function parseWithCommander(name: string, words: string[]): unknown {
  const command = name
    .split(" ")
    .reduce((above, word) => above.commands.find((each) => each.name() === word)!, createProgram());
  command.parseOptions(words);
  return command.opts();
}

describe.each(["executor", "exec-server"])("the quick arguments of %s", (name) => {
  it.each([
    [[]],
    [["--listen", "stdio"]],
    [["--listen=ws://127.0.0.1:0"]],
    [["--listen", "a=b", "--allow-insecure-listen"]],
    [["--allow-insecure-listen", "--listen=x=y=z"]],
  ])("are those of commander: %j", (words) => {
    const parsed = parseQuickly(quick[name]!, words);
    expect(parsed).toEqual({ options: parseWithCommander(name, words), words: [] });
  });

  it.each([
    [["--help"]],
    [["-h"]],
    [["--no-such-option"]],
    [["extra"]],
    [["--"]],
    [["--listen"]],
    [["--listen="]],
    [["--listen", "--allow-insecure-listen"]],
    [["--listen", "a", "--listen", "b"]],
    [["--allow-insecure-listen=yes"]],
    [["--toString"]],
    [["__proto__"]],
  ])("leave to commander: %j", (words) => {
    expect(parseQuickly(quick[name]!, words)).toBeUndefined();
  });
});

it.each([
  ["executor", "--max-sessions", "3"],
  ["executor", "--max-sandbox", "read-only"],
  ["executor", "--allowed-root", "/tmp"],
  ["exec-server", "--ws-auth", "capability-token"],
  ["exec-server", "--concurrent-requests", "2"],
])("an option that is checked or collected is commander's: %s %s", (name, ...words) => {
  expect(parseQuickly(quick[name]!, words)).toBeUndefined();
});

it("shares nothing between two starts", () => {
  const [first, second] = [parseQuickly(quick.executor!, []), parseQuickly(quick.executor!, [])];
  expect(first?.options.allowedRoot).toEqual([]);
  expect(first?.options.allowedRoot).not.toBe(second?.options.allowedRoot);
});

it.each([
  [[], ["true"]],
  [
    ["--executor", "ws://127.0.0.1:1"],
    ["sh", "-c", "exit 3"],
  ],
  [
    ["--tty", "--cwd=/tmp"],
    ["vim", "--", "--help"],
  ],
  [
    ["--record", "a=b", "--record-input"],
    ["-x", ""],
  ],
])("of run: %j, and the words of the program", (options, words) => {
  const expected = { options: parseWithCommander("run", options), words };
  expect(parseQuickly(quick.run!, [...options, "--", ...words])).toEqual(expected);
});

it.each([
  [[], ["ls", "-la", "--executor", "x", "--"]],
  [
    ["--tty", "--executor", "x"],
    ["ls", "-la"],
  ],
])("of run: %j, and the words of the program without --: %j", (options, words) => {
  const program = createProgram().commands.find((command) => command.name() === "run")!;
  const { operands } = program.parseOptions([...options, ...words]);
  expect(parseQuickly(quick.run!, [...options, ...words])).toEqual({ options: program.opts(), words: operands });
});

it.each([
  [[""]],
  [["-"]],
  [["--"]],
  [["--tty"]],
  [["--env", "A=b", "--", "true"]],
  [["--timeout", "3", "--", "true"]],
  [["--sandbox", "read-only", "--", "true"]],
  [["--no-tty", "--", "true"]],
  [["-T", "--", "true"]],
  [["--executor", "--", "true"]],
  [["--help", "--", "true"]],
])("of run are left to commander: %j", (line) => {
  expect(parseQuickly(quick.run!, line)).toBeUndefined();
});

it.each([
  [["tools", "list", "--json"], "tools list", 2],
  [["run", "--", "list"], "run", 1],
  [["executor"], "executor", 1],
])("the command of %j is %s", (line, name, count) => {
  expect(findQuickCommand(quick, line)).toEqual({ name, count, command: quick[name] });
});

it.each([[[]], [["tools"]], [["tools", "spec"]], [["toString"]], [["--version"]], [["help", "run"]]])(
  "%j is no quick command",
  (line) => {
    expect(findQuickCommand(quick, line)).toBeUndefined();
  },
);
