import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describeSandbox } from "@codex/agent-terminal/approvals";
import { splitWords } from "@codex/agent-terminal/text";
import type { Sandbox } from "@codex/executor-protocol";
import { createSandboxSelector } from "@codex/policy";
import { createLocalBackend } from "@codex/process-host";
import { type IPty, spawn } from "node-pty";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { codex, useCommand } from "./support.js";

const call = (cmd: string, ...more: string[]) => [
  ...["tools", "call", "--approval-policy", "untrusted", ...more, "exec_command"],
  JSON.stringify({ cmd, login: false }),
];
const CALL = call("printf %s done", "--sandbox", "danger-full-access");
const CTRL_U = "\u0015";

const probe = createLocalBackend();
const support = (await probe.getSandboxSupport?.()) ?? { kind: "none" };
await probe.close();

/** A terminal with the command on it. */
class Screen {
  output = "";
  readonly ended: Promise<void>;
  readonly #child: IPty;
  #wake = () => {};

  constructor(args: readonly string[], env: Record<string, string>) {
    // Nothing else of the environment: much of it, `CI` for one, decides whether Node finds colours.
    const { PATH = "" } = process.env;
    this.#child = spawn(process.execPath, [codex, ...args], { cols: 400, env: { PATH, ...env } });
    this.#child.onData((data) => {
      this.output += data;
      this.#wake();
    });
    this.ended = new Promise((resolve) => this.#child.onExit(() => resolve()));
  }

  /** Waits for a text that came after the last one that was waited for, then types. */
  async answer(question: string, text: string): Promise<string> {
    for (;;) {
      const at = this.output.indexOf(question);
      if (at !== -1) {
        const before = this.output.slice(0, at);
        this.output = this.output.slice(at + question.length);
        this.#child.write(`${text}\r`);
        return before;
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  kill(): void {
    this.#child.kill("SIGKILL");
  }
}

describe("the question at the terminal", () => {
  const command = useCommand();
  let home: string;
  const screens: Screen[] = [];
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), "codex-approver-"));
  });
  afterEach(async () => {
    for (const screen of screens.splice(0)) {
      screen.kill();
      await screen.ended;
    }
    rmSync(home, { recursive: true, force: true });
  });
  const open = (env: Record<string, string> = {}, args: readonly string[] = CALL) => {
    const screen = new Screen(args, { CODEX_HOME: home, TERM: "xterm-256color", ...env });
    screens.push(screen);
    return screen;
  };
  const saved = () => readFileSync(join(home, "rules", "default.rules"), "utf8");

  it("lets the rule be edited, checks it, and shows it again before it is saved", async () => {
    const screen = open();
    const shown = await screen.answer("[q]uit: ", "e");
    expect(shown).toMatch(/sandbox {6}none: it may write everywhere and use the network/);
    expect(shown).toContain("[e]dit the rule");
    // The line is painted again at each change, so what is waited for is what came of the last one.
    await screen.answer("(nothing goes back): ", `${CTRL_U}bash`);
    await screen.answer("that rule cannot be saved: `bash` runs what it reads here", `${CTRL_U}ls`);
    await screen.answer('that rule cannot be saved: no command of the call begins with "ls"', `${CTRL_U}printf 'open`);
    await screen.answer("that rule cannot be saved: a quote is not closed", `${CTRL_U}printf '%s'`);
    const again = await screen.answer("[y]es, [e]dit, [b]ack: ", "y");
    expect(again).toContain('rule to save prefix_rule(pattern=["printf", "%s"], decision="allow")');
    await screen.ended;
    expect(screen.output).toMatch(/Output:\r\ndone/);
    expect(saved()).toBe('prefix_rule(pattern=["printf", "%s"], decision="allow")\n');
  });

  it("goes back from editing without saving anything", async () => {
    const screen = open();
    await screen.answer("[q]uit: ", "e");
    await screen.answer("(nothing goes back): ", CTRL_U);
    await screen.answer("[q]uit: ", "n");
    await screen.ended;
    expect(screen.output).toContain("the user declined it");
    expect(saved).toThrow(/ENOENT/);
  });

  it.each<[string, Record<string, string>, boolean]>([
    ["bold", {}, true],
    ["plain, where its user asks for that", { NO_COLOR: "1" }, false],
    ["plain, on a terminal that cannot", { TERM: "dumb", COLORTERM: "" }, false],
    ["plain, where no person is expected", { CI: "1" }, false],
  ])("shows the command %s", async (_name, env, isBold) => {
    const screen = open(env);
    const shown = await screen.answer("[q]uit: ", "n");
    expect(shown.includes("command      \u001b[1m")).toBe(isBold);
    await screen.ended;
  });

  it.skipIf(support.kind === "none")("says that a command has already run in part", async () => {
    const directory = mkdtempSync("/var/tmp/codex-approver-");
    const file = join(directory, "file");
    const screen = open({}, call(`echo half; echo whole > ${file}`, "--sandbox", "workspace-write"));
    const first = await screen.answer("[q]uit: ", "y");
    expect(first).toMatch(/sandbox {6}writes .*, \/tmp, \$TMPDIR; no network/);
    const second = await screen.answer("[q]uit: ", "y");
    expect(second).toMatch(/sandbox {6}none/);
    expect(second).toMatch(
      /already ran {2}in its sandbox, in part, until the sandbox refused something \(exit code [12]\)/,
    );
    await screen.ended;
    expect(screen.output).toMatch(/second run, outside the sandbox.*half/s);
    expect(readFileSync(file, "utf8")).toBe("whole\n");
    rmSync(directory, { recursive: true, force: true });
  });

  it("is a refusal where there is no terminal, which says how to allow the command", async () => {
    const { code, stdout } = await command.run(CALL);
    expect(code).toBe(1);
    const text = stdout.toString();
    expect(text).toMatch(
      /^The command was not approved: .*no terminal to ask at; run it at one, or allow it by the rule/,
    );
    expect(text).toMatch(/prefix_rule\(pattern=\["printf", "%s", "done"\], decision="allow"\) in .*default\.rules/);
    expect(text).toMatch(/Nothing was run\.\n$/);
  });
});

it.each([
  ["git  push", ["git", "push"]],
  [`a 'b c' "d\\"e" f\\ g`, ["a", "b c", 'd"e', "f g"]],
  ["a''b", ["ab"]],
  ["''", [""]],
  ["", []],
  ["a 'b", undefined],
  ['a "b', undefined],
  ["a\\", undefined],
])("words of %j", (text, expected) => {
  expect(splitWords(text)).toEqual(expected);
});

describe("a sandbox in words", () => {
  const command = {
    environment: "main",
    host: undefined,
    cwd: "/srv/a",
    workspaceRoots: ["/srv/a"],
    sandboxPermissions: "use_default",
    additionalPermissions: null,
    bypassSandbox: false,
  } as const;
  const select = (settings: Parameters<typeof createSandboxSelector>[0]) =>
    createSandboxSelector({ denyRead: ["/k"], ...settings }).select(command) as Sandbox | null;

  it.each([
    [null, "none: it may write everywhere and use the network"],
    [select({ mode: "danger-full-access" }), "none: it may write everywhere and use the network"],
    [select({ mode: "read-only" }), "writes nothing; no network; 1 place not readable"],
    [
      select({ mode: "workspace-write", writableRoots: ["/opt/b"], networkAccess: true, denyRead: [] }),
      "writes /srv/a, /opt/b, /tmp, $TMPDIR; uses the network",
    ],
    [{ permissions: { type: "external", network: "restricted" } }, "restricted by something outside; no network"],
  ] satisfies [Sandbox | null, string][])("%#", (sandbox, expected) => {
    expect(describeSandbox(sandbox)).toBe(expected);
  });
});
