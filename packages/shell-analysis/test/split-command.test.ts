import { describe, expect, it } from "vitest";
import { loadShellParser } from "../src/parser.js";
import { splitCommand } from "../src/split.js";

const parser = await loadShellParser();
const SPLIT = [["ls", "-la"], ["pwd"]];

describe("splitCommand", () => {
  it.each([
    ["bash", "-lc"],
    ["bash", "-c"],
    ["sh", "-c"],
    ["zsh", "-lc"],
    ["/bin/bash", "-lc"],
    ["/opt/x/zsh", "-c"],
  ])("splits %s %s", (shell, flag) => expect(splitCommand(parser, [shell, flag, "ls -la && pwd"])).toEqual(SPLIT));

  it.each([
    [[]],
    [["bash"]],
    [["bash", "-lc"]],
    [["bash", "ls"]],
    [["bash", "-lc", "ls", "x"]],
    [["bash", "-l", "ls"]],
    [["bash", "-cl", "ls"]],
    [["bash", "-x", "ls"]],
    [["bash", "-l", "-c", "ls"]],
    [["fish", "-c", "ls"]],
    [["dash", "-c", "ls"]],
    [["BASH", "-c", "ls"]],
    [["bash ", "-c", "ls"]],
    [["env", "-c", "ls"]],
    [["ls", "-la"]],
    [["bash", "-lc", ""]],
    [["bash", "-lc", "ls > out"]],
  ])("takes %j as one", (argv) => expect(splitCommand(parser, argv)).toBeNull());
});
