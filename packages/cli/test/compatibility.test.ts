import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Command } from "commander";
import { describe, expect, it } from "vitest";
import { createProgram } from "../src/program.js";
import { CODEX_BINARY } from "./real-client/support.js";

/** Visible commands and options of a command. */
interface Help {
  commands: string[];
  options: string[];
}

/** As Codex 0.169.0 lists them, by command. */
const RECORDED = JSON.parse(readFileSync(new URL("./codex-help.json", import.meta.url), "utf8")) as Record<
  string,
  Help
>;

const page = readFileSync(new URL("../../../docs/compatibility.md", import.meta.url), "utf8");
const table = page.slice(page.indexOf("| Codex 0.169.0 | the same |")).split("\n\n", 1)[0] ?? "";
const [, , ...rows] = table.split("\n").map((line) => line.split("|").slice(1, -1));

const OPTION = /^--[a-z][\w-]*$/;
const quoted = (cell = ""): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, text = ""]) => text);
const optionsOf = (cell?: string) => quoted(cell).filter((text) => OPTION.test(text));

const findCommand = (path: string): Command =>
  path
    .split(" ")
    .slice(1)
    .reduce((above, word) => above.commands.find((one) => one.name() === word) ?? fail(path), createProgram());

const fail = (path: string): never => {
  throw new Error(`there is no ${path} here`);
};

describe("the table of docs/compatibility.md", () => {
  const commandRows = rows.filter(([name]) => quoted(name).length > 0);

  it("has every command of Codex that exists here", () => {
    expect(commandRows.flatMap(([name]) => quoted(name)).sort()).toEqual(Object.keys(RECORDED).sort());
  });

  it.each(commandRows.map(([name = "", ...cells]) => ({ name: name.trim(), cells })))("is true of $name", (row) => {
    const [same, missing, differs, more] = row.cells.map(optionsOf);
    const names = quoted(row.name);
    const listed = [...same!, ...missing!, ...differs!];
    expect(listed.toSorted()).toEqual([...new Set(names.flatMap((name) => RECORDED[name]!.options))].sort());
    const here = new Set<string>();
    for (const name of names) {
      const own = new Set(findCommand(name).options.map(({ long }) => long));
      const { options } = RECORDED[name]!;
      expect(options.filter((option) => !own.has(option)).sort(), name).toEqual(
        missing!.filter((option) => options.includes(option)).sort(),
      );
      for (const option of own) if (!options.includes(option!)) here.add(option!);
    }
    expect(more!.filter((option) => !here.has(option))).toEqual([]);
  });

  it("is true of the commands", () => {
    const [, same, missing, , more] = rows.find(([name]) => name?.trim() === "commands")!.map((cell) => quoted(cell));
    const { commands } = RECORDED.codex!;
    const own = createProgram().commands.map((command) => command.name());
    expect(same).toEqual(commands.filter((name) => own.includes(name)).sort());
    expect(missing).toEqual(commands.filter((name) => !own.includes(name)).sort());
    // Two more that Codex has without listing them.
    const hidden = ["execpolicy", "mcp-server"];
    expect(more).toEqual(own.filter((name) => !commands.includes(name) && !hidden.includes(name)).sort());
  });
});

it.skipIf(CODEX_BINARY === undefined)(
  "the recorded commands and options are those of Codex (needs CODEX_BINARY)",
  () => {
    const home = mkdtempSync(join(tmpdir(), "codex-help-"));
    try {
      const helpOf = (path: string): Help => {
        const args = [...path.split(" ").slice(1), "--help"];
        const env = { ...process.env, CODEX_HOME: home };
        const text = execFileSync(CODEX_BINARY!, args, { encoding: "utf8", env, stdio: ["ignore", "pipe", "ignore"] });
        const list = /^Commands:\n([\s\S]*?)\n\n/m.exec(text)?.[1] ?? "";
        const commands = [...list.matchAll(/^ {2}([a-z][\w-]*)/gm)].map(([, name = ""]) => name);
        const options = [...text.matchAll(/^ {2,6}(?:-\w, )?(--[a-z][\w-]*)/gm)].map(([, name = ""]) => name);
        return {
          commands: commands.filter((name) => name !== "help"),
          options: options.filter((name) => name !== "--help").sort(),
        };
      };
      expect(Object.fromEntries(Object.keys(RECORDED).map((path) => [path, helpOf(path)]))).toEqual(RECORDED);
    } finally {
      rmSync(home, { recursive: true, force: true });
    }
  },
);
