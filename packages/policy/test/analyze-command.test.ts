import { createLazyShellParser, findLiteralCommands, loadShellParser } from "@codex/shell-analysis";
import { describe, expect, it } from "vitest";
import { HOST } from "../../orchestrator/test/support/executors.js";
import { analyzeCommand } from "../src/analyze-command.js";
import { evaluateRequirement } from "../src/requirement.js";

const shellParser = createLazyShellParser();

describe("analyzeCommand", () => {
  it("splits a script of plain commands, and leaves any other opaque", async () => {
    const argv = ["/bin/bash", "-lc", "cd src && make 'all of it' | tail -5"];
    expect(await analyzeCommand(argv, HOST, shellParser)).toMatchObject({
      commands: [
        ["cd", "src"],
        ["make", "all of it"],
        ["tail", "-5"],
      ],
      isSplit: true,
    });
    const opaque = ["/bin/bash", "-lc", "make > log"];
    expect(await analyzeCommand(opaque, HOST, shellParser)).toMatchObject({ commands: [opaque], isSplit: false });
  });

  it("does not trust a shell that the model may have written", async () => {
    const split = async (argv: string[], host = HOST) => (await analyzeCommand(argv, host, shellParser)).isSplit;
    expect(await split(["/tmp/bash", "-lc", "ls"])).toBe(false);
    expect(await split(["bash", "-lc", "ls"])).toBe(true);
    const host = { ...HOST, shell: { name: "zsh", path: "/nix/store/x/bin/zsh" } };
    expect(await split(["/nix/store/x/bin/zsh", "-lc", "ls"], host)).toBe(true);
  });

  it("loads the parser for a script only", async () => {
    let loads = 0;
    const counting = createLazyShellParser(() => {
      loads += 1;
      return loadShellParser();
    });
    const plain = await analyzeCommand(["sudo", "rm", "-rf", "x"], HOST, counting);
    expect(plain.literals).toEqual({
      commands: [
        ["sudo", "rm", "-rf", "x"],
        ["rm", "-rf", "x"],
      ],
      complete: true,
    });
    expect(loads).toBe(0);
    await analyzeCommand(["sudo", "bash", "-c", "ls"], HOST, counting);
    await analyzeCommand(["bash", "-c", "ls"], HOST, counting);
    expect(loads).toBe(1);
  });

  it("asks about a script that it has no parser for, and still sees what is forbidden", async () => {
    const missing = () => Promise.reject(new Error("no file /x.wasm"));
    const context = { sandboxPermissions: "use_default", unrestricted: true, approvalPolicy: "on-request" } as const;
    const unread = await analyzeCommand(["bash", "-c", "ls; make all"], HOST, missing);
    expect(unread.isSplit).toBe(false);
    expect(evaluateRequirement(unread, context)).toMatchObject({
      kind: "needsApproval",
      reason: expect.stringContaining("/x.wasm"),
    });
    const rules = {
      restricts: true,
      matchLonger: () => [],
      match: ([program]: readonly string[]) =>
        program === "make" ? [{ decision: "forbidden" as const, rule: "make" }] : [],
    };
    expect(evaluateRequirement(unread, { ...context, rules }).kind).toBe("forbidden");
  });
});

it("other work has its turn before the second reading of a script", async () => {
  const line = (at: number) =>
    `x${at}="$(echo ${at} | sed 's/a/b/')"; case "$x${at}" in a*) echo a ;; *) echo b ;; esac`;
  const script = Array.from({ length: 50 }, (_, at) => line(at)).join("\n");
  const parser = await shellParser();
  let turns = 0;
  const count = () => {
    turns += 1;
    timer = setImmediate(count);
  };
  let timer = setImmediate(count);
  const found = await analyzeCommand(["/bin/bash", "-c", script], HOST, async () => parser);
  clearImmediate(timer);
  expect(turns).toBeGreaterThanOrEqual(1);
  expect(found.literals).toEqual(findLiteralCommands(parser, ["/bin/bash", "-c", script]));
});
