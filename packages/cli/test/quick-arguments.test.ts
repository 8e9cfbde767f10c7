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
    [["--status", "--attach"]],
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
    [["--status"]],
    [["--listen", "stdio", "--environment-id", "x"]],
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
  ["executor", "--max-sandbox", "widest"],
  ["exec-server", "--ws-auth=guess"],
  ["exec-server", "--concurrent-requests", "2"],
  ["exec", "--timeout", "3", "prompt"],
  ["exec", "--max-turns=2"],
  ["exec", "-sread-only"],
  ["exec", "-s=read-only"],
  ["exec", "--yolo=yes"],
  ["exec", "two", "prompts"],
  ["exec", "-"],
  ["exec", "--", "resume"],
  ["exec", "--json", "resume", "--last"],
  ["exec", "fork", "id"],
  ["exec", "help"],
])("what commander checks, or what runs another command, is left to it: %s %s", (name, ...words) => {
  expect(parseQuickly(quick[name]!, words)).toBeUndefined();
});

it.each([
  ["executor", "--max-sandbox", "read-only", "--allowed-root", "/tmp", "--allowed-root=/var"],
  ["exec-server", "--ws-auth", "capability-token"],
  ["exec", "--json", "--sandbox=workspace-write", "-C", "/tmp"],
  ["exec", "-m", "model", "-c", "a=b", "--config", "c=d=e", "-c", "f", "-i", "a.png", "--add-dir", "/a"],
  ["exec", "--no-stdin", "--yolo", "--enable", "x", "--enable", "y"],
  ["exec"],
])("options that are collected, negated or of a list are those of commander: %s %s", (name, ...words) => {
  expect(parseQuickly(quick[name]!, words)).toEqual({ options: parseWithCommander(name, words), words: [] });
});

it.each([[["Do it."]], [["--json", "Do it."]], [["Do it.", "--json", "-m", "a"]]])(
  "a prompt stands before or behind the options of exec: %j",
  (words) => {
    const options = parseWithCommander("exec", words);
    expect(parseQuickly(quick.exec!, words)).toEqual({ options, words: ["Do it."] });
  },
);

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
  [["--env", "A=b", "-e", "B=", "--sandbox", "read-only", "-T"], ["true"]],
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
  [["--timeout", "3", "--", "true"]],
  [["--sandbox", "open", "--", "true"]],
  [["--no-tty", "--tty", "--", "true"]],
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
