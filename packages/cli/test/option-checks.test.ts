import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Command } from "commander";
import { afterAll, describe, expect, it } from "vitest";
import { checkOptions, DependentOption } from "../src/program/check-options.js";
import { createProgram } from "../src/program.js";
import { finish, useCommand } from "./support.js";

const listCommands = (command: Command, path = "codex"): { path: string; command: Command }[] => [
  { path, command },
  ...command.commands.flatMap((child) => listCommands(child, `${path} ${child.name()}`)),
];
const listOptions = () =>
  listCommands(createProgram()).flatMap(({ path, command }) =>
    command.options.map((option) => ({ path, command, option, flags: option.flags })),
  );

/** `--local-provider` and `--all` as in Codex, which ignores them; the command itself checks `--title`. */
const UNCHECKED = ["--local-provider", "--all", "--title"];

describe("options", () => {
  it("that name another option are refused without it", () => {
    const named = listOptions().filter(({ option }) => /^With --/.test(option.description));
    const unchecked = named
      .filter(({ option }) => !(option instanceof DependentOption))
      .map(({ option }) => option.long);
    expect(new Set(unchecked)).toEqual(new Set(UNCHECKED));
    expect(named.length).toBeGreaterThan(20);
  });

  it("that name a path refuse an empty one, in every command", () => {
    const named = listOptions().filter(({ flags }) => /<(path|file|dir|path\|pattern)>$/.test(flags));
    expect(named.length).toBeGreaterThan(50);
    for (const { path, option } of named) {
      const command = listCommands(createProgram()).find((each) => each.path === path)!.command;
      const errors: string[] = [];
      command.exitOverride().configureOutput({ outputError: (text) => errors.push(text) });
      command.parseOptions([option.long!, ""]);
      expect(() => checkOptions(command), path).toThrow();
      expect(errors.join(), path).toContain(`'${option.flags}': expected a path, got ""`);
    }
  });
});

const base = mkdtempSync(join(tmpdir(), "codex options-"));
afterAll(() => rmSync(base, { recursive: true }));
const file = (name: string, text: string) => {
  writeFileSync(join(base, name), text);
  return join(base, name);
};
mkdirSync(join(base, "directory"));
const blank = file("blank", "two words\n");
const lines = file("lines", "one\ntwo\n");

describe("the command refuses", () => {
  const { start } = useCommand();
  const refusal = async (args: readonly string[], env: Record<string, string> = {}) => {
    const child = start(args, { CODEX_API_KEY: "none", CODEX_HOME: base, ...env });
    child.stdin.end();
    const { code, stderr, stdout } = await finish(child);
    return { code, stdout: stdout.toString(), error: stderr.split("\n")[0] };
  };

  it.each([
    [["run", "--label", "gpu=h100", "--", "true"], "option '--label <name=value>' needs --registry"],
    [["tools", "list", "--label", "gpu=h100"], "option '--label <name=value>' needs --registry"],
    [["mcp-server", "--label", "gpu=h100"], "option '--label <name=value>' needs --registry"],
    [["executor", "--status"], "option '--status' needs --attach"],
    [["exec-server", "--listen", "stdio", "--stop"], "option '--stop' needs --attach"],
    [["executor", "--idle-timeout", "5"], "option '--idle-timeout <seconds>' needs --attach"],
    [["executor", "--environment-id", "x"], "option '--environment-id <id>' needs --remote"],
    [["executor", "--aws-region", "x"], "option '--aws-region <region>' needs --aws-sigv4"],
    [["mcp-server", "--view-port", "0"], "option '--view-port <number>' needs --view"],
    [["exec", "--once", "hello"], "option '--once' needs --view"],
    [["rendezvous", "--node-url", "http://127.0.0.1:1"], "option '--node-url <url>' needs --nats"],
    [
      ["executor", "--remote", "http://127.0.0.1:1", "--environment-id", "x", "--listen", "ws://127.0.0.1:0"],
      "option '--remote <url>' cannot be used with option '--listen <url>'",
    ],
    [["mcp-server", "--allowed-host", "x"], "option '--allowed-host <name>' needs --listen"],
    [
      ["run", "--executor", "1", "--registry", "http://127.0.0.1:1", "--", "true"],
      "--executor and --registry exclude each other",
    ],
  ])("what would be ignored: %j", async (args, message) => {
    expect(await refusal(args)).toEqual({ code: 2, stdout: "", error: `codex: ${message}` });
  });

  it.each([
    [["run", "-C", "", "--", "true"], `option '-C, --cwd <dir>': expected a path, got ""`],
    [["executor", "--allowed-root", ""], `option '--allowed-root <dir>': expected a path, got ""`],
    [["sandbox", "--deny", "", "--", "true"], `option '--deny <path|pattern>': expected a path, got ""`],
    [["exec-server", "--ws-token-file", ""], `option '--ws-token-file <path>': expected a path, got ""`],
    [["audit", "verify", ""], `argument 'file': expected a path, got ""`],
    [["exec", "-C", "", "hello"], `option '-C, --cd <dir>': expected a path, got ""`],
  ])("an empty path: %j", async (args, message) => {
    expect(await refusal(args)).toEqual({ code: 2, stdout: "", error: `codex: ${message}` });
  });

  it.each([
    [["view", "--port", "65536", "x.cast"], `'--port <number>': expected a whole number from 0 to 65535, got "65536"`],
    [
      ["mcp-server", "--view", "--view-port", "-1"],
      `'--view-port <number>': expected a whole number from 0 to 65535, got "-1"`,
    ],
    [["mcp-server", "--max-hold", "0.2"], `'--max-hold <seconds>': expected seconds, from 0.25 to 300, got "0.2"`],
    [["executor", "--resume-grace", "-1"], `'--resume-grace <seconds>': expected seconds, from 0 to 2000000, got "-1"`],
    [["executor", "--resume-grace", " "], `'--resume-grace <seconds>': expected seconds, from 0 to 2000000, got " "`],
  ])("a number outside its range: %j", async (args, message) => {
    expect(await refusal(args)).toEqual({ code: 2, stdout: "", error: `codex: option ${message}` });
  });

  const URL = "expected http://HOST or https://HOST, optionally with a port and a path";
  it.each([
    [["run", "--registry", "foo", "--environment", "x", "--", "true"], `--registry "foo": ${URL}`],
    [["environment", "list", "--registry", ""], `--registry "": ${URL}`],
    [["executor", "--remote", "ws://x", "--environment-id", "x"], `--remote "ws://x": ${URL}`],
    [["executor", "--remote", "http://127.0.0.1:1"], "--environment-id is needed: 1 to 256 letters, digits, - and _"],
    [
      ["executor", "--remote", "http://127.0.0.1:1", "--environment-id", "x", "--label", "y"],
      '--label "y": expected NAME=VALUE, of at most 64 and 256 characters',
    ],
    [
      ["mcp-server", "--listen", "foo"],
      '--listen "foo" is not an address; expected stdio://, http://HOST:PORT or https://HOST:PORT with a port from 0 to 65535, or fd:// of a TCP socket',
    ],
    [
      ["environment", "add", "a b", "ssh://box"],
      'nothing was added: `environments.id` is "a b"; expected ASCII letters, digits, - and _ only, without blanks',
    ],
    [
      ["environment", "add", "a", "foo://box"],
      'nothing was added: `environments.url` is "foo://box"; expected a URL that begins with ws:// or wss://',
    ],
    [["help", "nosuch"], "unknown command 'nosuch'"],
    [["tools", "help", "nosuch"], "unknown command 'nosuch'"],
  ])("%j with one sentence", async (args, message) => {
    expect(await refusal(args)).toEqual({ code: 2, stdout: "", error: `codex: ${message}` });
  });

  const REST = "or a character outside ASCII; such a token cannot be sent";
  const LISTENED = `has a blank, a line break ${REST}`;
  const SENT = `has a line break, a control character ${REST}`;
  it.each([
    [["executor", "--listen", "ws://127.0.0.1:0", "--token-file", blank], `the token file ${blank} ${LISTENED}`],
    [
      ["mcp-server", "--listen", "http://127.0.0.1:0", "--listen-token-file", blank],
      `the token file ${blank} ${LISTENED}`,
    ],
    [["run", "--executor", "1", "--token-file", lines, "--", "true"], `the token file ${lines} ${SENT}`],
  ])("a token that cannot be sent: %j", async (args, message) => {
    expect(await refusal(args)).toEqual({ code: 2, stdout: "", error: `codex: ${message}` });
  });

  it("a token of the environment that cannot be sent", async () => {
    const args = ["run", "--executor", "1", "--", "true"];
    const { code, error } = await refusal(args, { CODEX_EXECUTOR_TOKEN: "tökén" });
    expect([code, error]).toEqual([2, `codex: CODEX_EXECUTOR_TOKEN ${SENT}`]);
  });

  it("a directory as a file to replay", async () => {
    const path = join(base, "directory");
    const { code, error } = await refusal(["view", path]);
    expect([code, error]).toEqual([1, `codex: ${path} is a directory; expected a recording, an audit log or a thread`]);
  });
});

describe("help", () => {
  const { run } = useCommand();

  it.each([[["help", "--help"]], [["help", "help"]], [["tools", "help", "-h"]]])("%j is not an error", async (args) => {
    const { code, stdout, stderr } = await run(args);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout.toString()).toMatch(/^Usage: codex/);
  });
});
