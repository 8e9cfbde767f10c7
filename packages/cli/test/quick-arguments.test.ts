import { describe, expect, it } from "vitest";
import { createProgram } from "../src/program.js";
import { parseQuickly } from "../src/quick-arguments.js";
import { describeQuickCommands } from "../src/quick-commands.js";

const quick = describeQuickCommands(createProgram());

/** What commander makes of the options of a command. */
function parseWithCommander(name: string, words: string[]): unknown {
  const command = createProgram().commands.find((candidate) => candidate.name() === name)!;
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
    const options = parseQuickly(quick[name]!, words);
    expect(options).toBeDefined();
    expect(options).toEqual(parseWithCommander(name, words));
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
  expect(first?.allowedRoot).toEqual([]);
  expect(first?.allowedRoot).not.toBe(second?.allowedRoot);
});
