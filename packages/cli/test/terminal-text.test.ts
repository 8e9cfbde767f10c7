import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { say, startScriptedEndpoint } from "@codex/agent/testing";
import { connectWebSocket, createOrchestrator, type Orchestrator } from "@codex/orchestrator";
import { afterEach, describe, expect, it, onTestFinished } from "vitest";
import { Terminal } from "./pty.js";
import { codex, codexWords, useCommand } from "./support.js";

const command = useCommand();

/** A title, a cleared screen, mouse reports, the clipboard and a query, each of which a terminal would obey. */
const HOSTILE = "\x1b]0;TITLE\x07\x1b[2J\x1b[?1003h\x1b]52;c;cHdu\x07\x1b[6n\u009b1;1H";
const RAW = /\x1b\]|\x1b\[2J\x1b\[\?1003h|\x1b\[\?1003h|\x1b\[6n|\u009b/;

/** Runs the command on a terminal; all that it showed. */
async function onTerminal(
  words: readonly string[],
  { env = {}, cwd, size }: { env?: Record<string, string>; cwd?: string; size?: { cols: number; rows: number } } = {},
) {
  const terminal = new Terminal(process.execPath, [codex, ...words], {
    env: { TERM: "xterm-256color", LANG: "C.UTF-8", ...env },
    ...(cwd === undefined ? {} : { cwd }),
    ...(size === undefined ? {} : { size }),
  });
  onTestFinished(() => terminal.kill());
  const { code } = await terminal.ended;
  return { code, output: terminal.output };
}

function createDirectories() {
  const root = mkdtempSync(join(realpathSync(tmpdir()), "terminal text-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const [home, project] = [join(root, "home"), join(root, "project")];
  for (const directory of [home, project]) mkdirSync(directory);
  execFileSync("git", ["init", "-q", project]);
  return { home, project };
}

describe("text that others wrote", () => {
  it.each(
    [
      ["exec", "hi"],
      ["review", "--uncommitted"],
      ["exec", "--json", "hi"],
    ].map((words) => [words.join(" "), words]),
  )("of a model does not act on the terminal of `codex %s`, and is unchanged elsewhere", async (name, words) => {
    const message = `first ${HOSTILE} last`;
    const endpoint = await startScriptedEndpoint([say(message), say(message)]);
    onTestFinished(() => endpoint.close());
    const { home, project } = createDirectories();
    const provider = `[model_providers.mine]\nname = "Mine"\nbase_url = "${endpoint.url}"\n`;
    writeFileSync(join(home, "config.toml"), `model_provider = "mine"\nmodel = "m"\n${provider}`);
    const env = { CODEX_HOME: home, HOME: home };
    const shown = await onTerminal(words, { env, cwd: project });
    expect(shown.code).toBe(0);
    expect(shown.output).toMatch(/first \\u001b/);
    expect(shown.output).not.toMatch(RAW);
    const child = command.startIn(project, words, env);
    child.stdin.end();
    let stdout = "";
    for await (const chunk of child.stdout.setEncoding("utf8")) stdout += chunk;
    if (!name.includes("--json")) expect(stdout).toBe(`${message}\n`);
    else expect(stdout).toContain("\u009b1;1H last");
  });

  it("in names of files and settings does not act on the terminal", async () => {
    const { home, project } = createDirectories();
    const odd = join(project, `d${HOSTILE.replaceAll("/", "")}`);
    mkdirSync(join(odd, ".codex"), { recursive: true });
    mkdirSync(join(project, ".codex", "rules"), { recursive: true });
    writeFileSync(join(project, ".codex", "rules", "x\x1b]0;TITLE\x07.rules"), "bad(\n");
    writeFileSync(join(odd, ".codex", "config.toml"), "foo = 1\n");
    writeFileSync(join(home, "config.toml"), `[projects.${JSON.stringify(project)}]\ntrust_level = "trusted"\n`);
    const env = { CODEX_HOME: home, HOME: home };
    for (const words of [
      ["execpolicy", "explain", "--", "ls"],
      ["config", "show"],
      ["config", "show", "--json"],
    ]) {
      for (const cwd of [project, odd]) {
        const { code, output } = await onTerminal(words, { env, cwd });
        expect([code, output.length > 20]).toEqual([0, true]);
        expect(output, words.join(" ")).not.toMatch(RAW);
      }
    }
  });

  it("in options that do not exist does not act on the terminal", async () => {
    const { output } = await onTerminal(["exec", `--${HOSTILE}`]);
    expect(output).toMatch(/unknown option '--\\u001b/);
    expect(output).not.toMatch(RAW);
  });

  it("of an executor's stderr does not act on the terminal", async () => {
    const script = join(createDirectories().home, "executor.sh");
    const octal = [...Buffer.from(HOSTILE)].map((byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("");
    writeFileSync(script, `printf 'told ${octal}\\n' >&2\nexec ${codexWords} executor\n`);
    const words = ["run", "--executor", `sh '${script}'`, "--", "echo", "done"];
    const { code, output } = await onTerminal(words);
    expect([code, output]).toEqual([0, expect.stringMatching(/told \\u001b[\s\S]*done/)]);
    expect(output).not.toMatch(RAW);
    const piped = await command.run(words);
    expect(piped.stderr).toContain(`told ${HOSTILE}\n`);
  });

  it("is only written to the standard streams by the functions that escape it", () => {
    const source = fileURLToPath(new URL("../src/", import.meta.url));
    const writing = readdirSync(source, { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".ts"))
      .filter((file) =>
        /process\.std(?:out|err)\.write\(|console\.\w+\(/.test(readFileSync(join(source, file), "utf8")),
      );
    expect(writing.sort()).toEqual([
      "commands/completion.ts", // names of commands
      "commands/execpolicy.ts", // an error as Codex prints it, escaped
      "foreground/standard-output.ts", // bytes of a program, as they are
      "left-program.ts", // a constant
      "main.ts", // the version of Node
      "notice.ts",
      "program/help.ts", // escaped
      "report-error.ts",
      "run-to-end.ts", // a constant
      "screen-drawing.ts", // styles of a screen
    ]);
  });
});

describe("a session at a terminal that is not its own", () => {
  const attached: Orchestrator[] = [];
  afterEach(async () => {
    for (const orchestrator of attached.splice(0)) await orchestrator.close();
  });

  async function startSession(cmd: string, tty: boolean) {
    const { url } = await command.listen();
    const orchestrator = createOrchestrator({ policy: { approvalPolicy: "never", sandbox: "danger-full-access" } });
    attached.push(orchestrator);
    await orchestrator.attach({ name: "executor", channel: connectWebSocket(url) });
    const args = { cmd, tty, shell: "sh", login: false, yield_time_ms: 1000, ...(tty ? {} : { stdin: "open" }) };
    const { structured, text } = await orchestrator.callTool("exec_command", args);
    const id = Number(Reflect.get(structured ?? {}, "processId"));
    if (Number.isNaN(id)) throw new Error(text);
    const type = (chars: string) => orchestrator.callTool("write_stdin", { session_id: id, chars, yield_time_ms: 250 });
    return { id: String(id), url, type };
  }

  const octal = [...Buffer.from(HOSTILE)].map((byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("");

  it("is drawn from its screen: nothing acts on the terminal or asks it, and all modes are restored", async () => {
    const cmd = `stty -echo; printf '${octal}\\033[?1049h\\033[31mred\\033[0m'; read x; printf '\\033[2;1Hnext'; read y; exit 7`;
    const { id, url, type } = await startSession(cmd, true);
    const words = ["sessions", "attach", id, "--executor", url];
    const terminal = new Terminal(process.execPath, [codex, ...words], {
      env: { TERM: "xterm-256color" },
      size: { cols: 40, rows: 10 },
    });
    onTestFinished(() => terminal.kill());
    await terminal.shown("red");
    await type("\n");
    await terminal.shown("next");
    await type("\n");
    expect((await terminal.ended).code).toBe(7);
    expect(terminal.output.startsWith("\x1b[?1049h")).toBe(true);
    expect(terminal.output).toContain("\x1b[38;5;1mred\x1b[0m");
    const [, left = ""] = terminal.output.split("\x1b[0m\x1b[?7h\x1b[?25h\x1b[?1049l");
    expect(left).toContain("next");
    expect(terminal.output.replace(/\x1b\[H\x1b\[2J/g, "")).not.toMatch(RAW);
  });

  it("leaves the terminal as it was on Ctrl-C, and is printed once by `read`", async () => {
    const { id, url, type } = await startSession(`stty -echo; printf '${octal}shown'; read x; exit 0`, true);
    const words = ["sessions", "attach", id, "--executor", url, "--read-only"];
    const terminal = new Terminal(process.execPath, [codex, ...words], { env: { TERM: "xterm" } });
    onTestFinished(() => terminal.kill());
    await terminal.shown("shown");
    terminal.type("\x03");
    expect((await terminal.ended).code).toBe(0);
    expect(terminal.output).toContain("\x1b[?1049l");
    expect(terminal.output).toContain(`session ${id} keeps running`);
    const read = await onTerminal(["sessions", "read", id, "--executor", url]);
    expect([read.code, read.output]).toEqual([0, expect.stringContaining("shown")]);
    expect(read.output).not.toMatch(RAW);
    const piped = await command.run(["sessions", "read", id, "--executor", url]);
    expect(piped.stdout.toString()).toContain("\x1b]0;TITLE\x07");
    await type("\n");
  });

  it("is escaped text without a terminal of its own", async () => {
    const { id, url, type } = await startSession(`printf 'a\\r\\n${octal}b\\n'; read x; exit 3`, false);
    const reading = await onTerminal(["sessions", "read", id, "--executor", url]);
    expect(reading.output).not.toMatch(RAW);
    const terminal = new Terminal(process.execPath, [codex, "sessions", "attach", id, "--executor", url], {});
    onTestFinished(() => terminal.kill());
    await terminal.shown("\\u001b]0;TITLE");
    await type("\n");
    expect((await terminal.ended).code).toBe(3);
    expect(terminal.output).not.toMatch(RAW);
    expect(terminal.output).not.toContain("\\u000d");
  });
});
