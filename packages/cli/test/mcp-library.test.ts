// Resources, prompts and questions of MCP servers in the commands.
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { Terminal } from "./pty.js";
import { codex, finish, useCommand } from "./support.js";

const command = useCommand();
const PROGRAM = fileURLToPath(new URL("../../mcp-client/test/programs/library.mjs", import.meta.url));
let home = "";
beforeEach(() => {
  home = mkdtempSync(join(realpathSync(tmpdir()), "codex-mcp-library-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const server = `[mcp_servers.library]\ncommand = ${JSON.stringify(process.execPath)}\nargs = [${JSON.stringify(PROGRAM)}]`;
  writeFileSync(join(home, "config.toml"), `${server}\ndefault_tools_approval_mode = "approve"\n`);
});
const run = async (...args: string[]) => {
  const child = command.start(args, { CODEX_HOME: home });
  child.stdin.end();
  const { code, stdout, stderr } = await finish(child);
  return { code, stdout: stdout.toString(), stderr };
};

describe("codex tools", () => {
  it("lists and reads the resources and prompts of MCP servers", async () => {
    expect((await run("tools", "list")).stdout).toMatch(/^list_mcp_resources .*\n(?:.*\n)*get_mcp_prompt /m);
    const listed = await run("tools", "call", "list_mcp_resources", "{}");
    expect(listed).toMatchObject({ code: 0, stdout: expect.stringContaining('"uri":"notes://today"') });
    const read = await run("tools", "call", "read_mcp_resource", '{"server":"library","uri":"notes://today"}');
    expect(read.stdout).toContain("buy milk\\u001b[31m");
    const missing = await run("tools", "call", "read_mcp_resource", '{"server":"library","uri":"notes://broken"}');
    expect(missing).toMatchObject({ code: 1, stdout: expect.stringContaining("the disk is on fire") });
  });

  it("tells a server that nobody can be asked where there is no terminal", async () => {
    const { code, stdout } = await run("tools", "call", "mcp__library__order", "{}");
    expect({ code, stdout }).toEqual({ code: 1, stdout: expect.stringContaining("elicitation") });
  });
});

describe("a question of an MCP server at a terminal", () => {
  function ask(tool: string): Terminal {
    const terminal = new Terminal(process.execPath, [codex, "tools", "call", `mcp__library__${tool}`, "{}"], {
      env: { CODEX_HOME: home },
    });
    onTestFinished(() => terminal.kill());
    return terminal;
  }
  async function answer(terminal: Terminal, ...steps: readonly (readonly [string, string])[]): Promise<void> {
    for (const [shown, typed] of steps) {
      await terminal.shown(shown);
      terminal.type(`${typed}\r`);
    }
  }

  it("is answered field by field; what is not such a value is asked for again", async () => {
    const terminal = ask("order");
    await answer(
      terminal,
      ["Answer it?", "maybe"],
      ["Answer it?", "y"],
      ["Drink (its number):", "3"],
      ["expected one of the numbers", "2"],
      ["Cups (a whole number; default 2):", "1.5"],
      ["expected a whole number", ""],
      ["With milk (yes or no; may be empty):", "y"],
      ["Your name:", ""],
      ["expected a text", "Ada"],
      ["Extras (their numbers, with commas; may be empty):", "1, 3"],
      ["Send this to library?", "y"],
    );
    await terminal.shown(
      '{"action":"accept","content":{"drink":"coffee","cups":2,"milk":true,"name":"Ada","extras":["sugar","cake"]}}',
    );
    expect(await terminal.ended).toMatchObject({ code: 0 });
    expect(terminal.output).toContain("question     of MCP server library, to which the answer goes");
  });

  it("may be declined, before and after it was filled in", async () => {
    const first = ask("order");
    await answer(first, ["Answer it?", "no"]);
    await first.shown('{"action":"decline"}');
    const second = ask("order");
    const fields: [string, string][] = [
      ["Drink", "1"],
      ["Cups", "4"],
      ["With milk", ""],
      ["Your name", "Ada"],
      ["Extras", ""],
    ];
    await answer(second, ["Answer it?", "y"], ...fields, ["Send this", "e"], ...fields, ["Send this", "n"]);
    await second.shown('{"action":"decline"}');
  });

  it("may be a page, which is shown and not opened", async () => {
    const terminal = ask("sign");
    await terminal.shown("page         https://example.com/form");
    await answer(terminal, ["Have you opened it?", "y"]);
    await terminal.shown('{"action":"accept"}');
  });
});
