import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { renderBash } from "../../src/completion/bash.js";
import { describeCommands } from "../../src/completion/describe.js";
import { renderFish } from "../../src/completion/fish.js";
import { renderZsh } from "../../src/completion/zsh.js";
import { createProgram } from "../../src/program.js";
import { codex, useCommand } from "../support.js";

const command = useCommand();

const SCRIPTS = { bash: renderBash, zsh: renderZsh, fish: renderFish };
const commands = describeCommands(createProgram());

const isInstalled = (shell: string): boolean => {
  try {
    execFileSync(shell, ["-c", "true"]);
    return true;
  } catch {
    return false;
  }
};
const installed = Object.keys(SCRIPTS).filter(isInstalled);
const because = (shell: string) => (installed.includes(shell) ? "" : ` (skipped: no ${shell})`);

/** With the command by its name. */
const directory = mkdtempSync(join(tmpdir(), "codex-completion-"));
symlinkSync(codex, join(directory, "codex"));
afterAll(() => rmSync(directory, { recursive: true }));
const home = join(directory, ".codex");
mkdirSync(home);
writeFileSync(join(home, "environments.toml"), '[[environments]]\nid = "build"\nurl = "ws://127.0.0.1:1"\n');
const env = {
  ...process.env,
  CODEX_HOME: home,
  PATH: `${directory}:${process.env.PATH}`,
  HOME: directory,
  XDG_CONFIG_HOME: directory,
};

/** What a shell offers for the last word of a line. */
const COMPLETE: Readonly<Record<string, (words: readonly string[]) => string[]>> = {
  bash(words) {
    const script = `${renderBash(commands)}
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _codex 2>/dev/null; printf '%s\\n' "\${COMPREPLY[@]}"`;
    return execFileSync("bash", ["-c", script, "bash", ...words], { env, encoding: "utf8" }).split("\n");
  },
  fish(words) {
    const script = `${renderFish(commands)}\ncomplete -C '${words.join(" ")}'`;
    const { stdout, stderr } = spawnSync("fish", ["--no-config", "-c", script], { env, encoding: "utf8" });
    expect(stderr).toBe("");
    const lines = stdout.split("\n");
    return lines.map((line) => line.split("\t")[0] ?? "");
  },
};

const CASES: [words: string[], offered: string[], not: string[]][] = [
  [
    ["codex", ""],
    ["run", "sessions", "completion"],
    ["record", "--help"],
  ],
  [["codex", "sessions", ""], ["list", "read", "kill", "attach", "record"], ["run"]],
  [["codex", "sessions", "read", "--"], ["--executor", "--json"], ["--kill"]],
  [["codex", "run", "--sand"], ["--sandbox"], []],
  [["codex", "run", "--sandbox", ""], ["read-only", "workspace-write", "danger-full-access"], ["run"]],
  [["codex", "executor", "--log-level", ""], ["debug", "off"], ["stdio"]],
  [["codex", "run", "--", "mkfif"], ["mkfifo"], []],
  [["codex", "run", "mkfif"], ["mkfifo"], []],
  [["codex", "run", "--executor", "ws://h:1", "mkfif"], ["mkfifo"], []],
  [["codex", "completion", ""], ["bash", "zsh", "fish"], ["run"]],
];

/** A thread that is on record. */
const THREAD = "01234567-89ab-7def-8123-456789abcdef";
const day = join(home, "sessions/2026/01/02");
mkdirSync(day, { recursive: true });
const meta = {
  id: THREAD,
  timestamp: "2026-01-02T03:04:05.000Z",
  cwd: directory,
  originator: "codex",
  cli_version: "0.1.0",
};
const line = { timestamp: meta.timestamp, type: "session_meta", payload: meta };
writeFileSync(join(day, `rollout-2026-01-02T03-04-05-${THREAD}.jsonl`), `${JSON.stringify(line)}\n`);

describe.each(["bash", "fish"])("completion in %s", (shell) => {
  it.skipIf(!installed.includes(shell))(`offers the threads on record${because(shell)}`, { timeout: 60_000 }, () => {
    for (const words of [["resume"], ["threads", "show"], ["exec", "resume"]]) {
      expect(COMPLETE[shell]!(["codex", ...words, ""])).toContain(THREAD);
    }
  });

  it.skipIf(!installed.includes(shell))(
    `offers the sessions of the executor that the line names${because(shell)}`,
    async () => {
      const { url } = await command.listen();
      const place = ["--executor", url];
      const left = await command.run(["run", ...place, "--detach", "--", "sleep", "600"]);
      const words = ["codex", "sessions", "attach", ...place, ""];
      expect(COMPLETE[shell]!(words)).toContain(left.stdout.toString().trim());
    },
  );

  it.skipIf(!installed.includes(shell)).each(CASES)(`offers for %j: %j${because(shell)}`, (words, offered, not) => {
    const found = COMPLETE[shell]!(words);
    expect(found).toEqual(expect.arrayContaining(offered));
    for (const word of not) expect(found).not.toContain(word);
  });

  it.skipIf(!installed.includes(shell))(`offers the environments${because(shell)}`, { timeout: 60_000 }, () => {
    for (const words of [
      ["run", "--environment"],
      ["exec", "--environment"],
      ["environment", "check"],
    ]) {
      const offered = COMPLETE[shell]!(["codex", ...words, ""]);
      expect(offered).toEqual(expect.arrayContaining(["local", "build"]));
    }
    expect(COMPLETE[shell]!(["codex", "environment", "add", ""])).not.toContain("build");
  });

  it.skipIf(!installed.includes(shell))(`offers the tools that there are${because(shell)}`, { timeout: 60_000 }, () => {
    expect(COMPLETE[shell]!(["codex", "tools", "call", "exec_"])).toContain("exec_command");
  });
});

it.skipIf(!installed.includes("zsh"))(`in zsh loads the completion system where it is not${because("zsh")}`, () => {
  const script = `${renderZsh(commands)}\nprint $_comps[codex] $_comps[codex-ts]`;
  const { stdout, stderr } = spawnSync("zsh", ["-fc", script], { env, encoding: "utf8" });
  expect([stdout, stderr]).toEqual(["_codex _codex\n", ""]);
});

it.each(["bash", "zsh", "fish"] as const)("is a script that %s can read", (shell) => {
  const script = SCRIPTS[shell](commands);
  expect(script).toContain("codex-ts");
  if (installed.includes(shell)) execFileSync(shell, ["-n", "-c", script]);
});
