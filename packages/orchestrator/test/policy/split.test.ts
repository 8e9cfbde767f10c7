import { describe, expect, it } from "vitest";
import { plainCommands } from "../../src/policy/evaluate.js";
import { splitCommand } from "../../src/policy/split.js";
import { HOST } from "../support/executors.js";

const split = (script: string) => splitCommand(["/bin/bash", "-lc", script]);

describe("splitCommand", () => {
  it.each([
    ["ls", ["ls"]],
    [" ls -la \n", ["ls", "-la"]],
    ["git diff HEAD~", null],
    ["npm run build:all", ["npm", "run", "build:all"]],
    ["./x --a=b,c @scope/pkg +1 50%", ["./x", "--a=b,c", "@scope/pkg", "+1", "50%"]],
  ] as const)("%j", (script, words) => expect(split(script)).toEqual(words === null ? null : [words]));

  it.each([
    "",
    " ",
    "ls  -a",
    "ls; pwd",
    "ls && pwd",
    "ls | wc",
    "ls\npwd",
    "ls > x",
    "ls $HOME",
    "ls ~",
    "ls *",
    "ls ?",
    "ls [a]",
    "ls {a,b}",
    "echo 'a'",
    'echo "a"',
    "echo \\a",
    "echo `x`",
    "ls #x",
    "!x",
    "A=1",
    "A=1 ls",
    "cat =ls",
    "=ls",
    "time ls",
    "if x",
    "- ls",
    "-x",
    "ls é",
    "ls\tx",
  ])("is opaque: %j", (script) => expect(split(script)).toBeNull());

  it("takes exactly a shell, -c or -lc, and a script", () => {
    expect(splitCommand(["sh", "-c", "ls"])).toEqual([["ls"]]);
    expect(splitCommand(["zsh", "-lc", "ls"])).toEqual([["ls"]]);
    for (const argv of [
      ["bash", "-lc"],
      ["bash", "-lc", "ls", "x"],
      ["bash", "-x", "ls"],
      ["pwsh", "-c", "ls"],
      ["ls"],
    ]) {
      expect(splitCommand(argv)).toBeNull();
    }
  });

  it("is not trusted to a shell that the model may have written", () => {
    expect(plainCommands(["/tmp/bash", "-lc", "ls"], HOST)).toBeNull();
    expect(plainCommands(["bash", "-lc", "ls"], HOST)).toEqual([["ls"]]);
    const host = { ...HOST, shell: { name: "zsh", path: "/nix/store/x/bin/zsh" } };
    expect(plainCommands(["/nix/store/x/bin/zsh", "-lc", "ls"], host)).toEqual([["ls"]]);
  });
});
