import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { ExecBackend } from "@codex/exec-backend";
import { createLocalBackend } from "@codex/process-host";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ENV, outputOf, untilOutput } from "../../../process-host/test/support.js";
import { createCommandSandbox } from "../../src/command-sandbox.js";
import { parseGitConfig } from "../../src/profile/git-config.js";
import { createHostFiles } from "../../src/profile/host-files.js";
import { entry, NO_BUBBLEWRAP, READ_ALL, restrict } from "../support.js";

const CONFIG = `; a comment
[core] hooksPath = .husky ; a comment
[CORE]
	FsMonitor = "a \\"b\\" # c" \\
d
	bare
[filter "x.y"]
	clean = two  words   # c
[include]
path = ../x # c
[broken
[alias]
	x = !sh\\tf
`;

describe("the configuration of git", () => {
  it("is read as git reads it", () => {
    expect(parseGitConfig(Buffer.from(CONFIG))).toEqual([
      { key: "core.hookspath", value: ".husky" },
      { key: "core.fsmonitor", value: 'a "b" # c d' },
      { key: "core.bare", value: "" },
      { key: "filter.clean", value: "two  words" },
      { key: "include.path", value: "../x" },
      { key: "alias.x", value: "!sh\tf" },
    ]);
  });
});

describe.skipIf(NO_BUBBLEWRAP !== undefined)(`what git runs of a workspace (${NO_BUBBLEWRAP ?? "bubblewrap"})`, () => {
  let home: string;
  let work: string;
  let backend: ExecBackend;
  const git = (...args: string[]) =>
    execFileSync("git", args, { cwd: work, env: { ...ENV, HOME: home, GIT_CONFIG_NOSYSTEM: "1" }, stdio: "pipe" });
  beforeEach(() => {
    home = realpathSync(mkdtempSync(join(tmpdir(), "codex-git-paths-")));
    work = join(home, "work");
    mkdirSync(work);
    git("init", "-q");
    const env = { ...ENV, HOME: home, CODEX_HOME: join(home, "codex") };
    backend = createLocalBackend({ sandbox: createCommandSandbox({ files: createHostFiles(env) }) });
  });
  afterEach(async () => {
    await backend.close();
    rmSync(home, { recursive: true, force: true });
  });
  const put = (path: string, content = "there\n") => {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), content);
  };
  const run = async (script: string, root = work) => {
    const process = await backend.start({
      argv: ["bash", "-c", script],
      cwd: work,
      env: ENV,
      stdio: { kind: "pipe", stdin: "null" },
      sandbox: restrict([READ_ALL, entry(root, "write")]),
    });
    return outputOf(process);
  };
  const plant = (...paths: string[]) =>
    paths.map((path) => `mkdir -p $(dirname ${path}); echo planted >>${path}`).join("\n");
  const content = (path: string) => (existsSync(join(home, path)) ? readFileSync(join(home, path), "utf8") : undefined);

  it("is closed where the configuration names it: hooks, includes and what they name, commands and their files", async () => {
    const files = [
      ".husky/pre-commit",
      ".gitconfig",
      "tools/clean.py",
      "tools/editor",
      "monitor.js",
      "more",
      "src/a.c",
    ];
    for (const file of files) put(`work/${file}`);
    put("work/.gitconfig", `[include]\n\tpath = more\n[core]\n\teditor = ./tools/editor -w\n`);
    put(".gitconfig", `[core]\n\tfsmonitor = node monitor.js\n`);
    git("config", "core.hooksPath", ".husky");
    git("config", "include.path", "../.gitconfig");
    git("config", "filter.x.clean", "python3 tools/clean.py --root=src");
    await run(plant(...files, ".husky/post-commit"));
    const changed = files.filter((file) => content(`work/${file}`)?.includes("planted"));
    expect([changed, readdirSync(join(work, ".husky"))]).toEqual([["src/a.c"], ["pre-commit"]]);
  });

  it("cannot be created where it is missing, and leaves nothing behind that git could not read", async () => {
    git("config", "core.hooksPath", ".hooks/_");
    git("config", "include.path", "../extra");
    await run(`${plant(".hooks/_/pre-commit", "extra")}\ngit status --short`);
    expect(readdirSync(work)).toEqual([".git"]);
    git("status");
  });

  it("does not interrupt git outside while a name is kept free", async () => {
    git("config", "include.path", "../extra");
    const process = await backend.start({
      argv: ["sh", "-c", "echo ready; read line"],
      cwd: work,
      env: ENV,
      stdio: { kind: "pipe", stdin: "open" },
      sandbox: restrict([READ_ALL, entry(work, "write")]),
    });
    await untilOutput(process, "ready");
    git("status");
    await process.write(Buffer.from("\n"));
    await process.closed;
    expect(readdirSync(work)).toEqual([".git"]);
  });

  it("is closed in the user's own configuration where the home directory is the workspace", async () => {
    put(".config/git/config", "[user]\n\tname = me\n");
    await run(plant(`${home}/.gitconfig`, `${home}/.config/git/config`, `${home}/notes`), home);
    expect([content(".gitconfig"), content(".config/git/config"), content("notes")]).toEqual([
      undefined,
      "[user]\n\tname = me\n",
      "planted\n",
    ]);
  });

  it("does not close words that are no files, names of other repositories, nor the workspace itself", async () => {
    put("work/code/a");
    git("config", "core.editor", "code --wait");
    git("config", "core.hooksPath", ".");
    git("config", "remote.origin.url", "./code");
    git("config", "alias.ci", "commit code/a");
    await run(plant("code/a", "code/b", "c"));
    expect([content("work/code/a"), content("work/code/b"), content("work/c")]).toEqual([
      "there\nplanted\n",
      "planted\n",
      "planted\n",
    ]);
  });
});
