import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, lstatSync, mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { createGuard } from "../../process-host/src/guard/guard.js";
import { untilOutput } from "../../process-host/test/support.js";
import { MARK_S } from "../src/profile/placeholder-mark.js";
import { entry, NO_BUBBLEWRAP, READ_ALL, restrict, useSandbox } from "./support.js";

const git = (cwd: string, ...args: string[]) =>
  execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b.c", ...args], {
    cwd,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  });

describe.skipIf(NO_BUBBLEWRAP !== undefined)(`a directory in a repository (${NO_BUBBLEWRAP ?? "bubblewrap"})`, () => {
  const sandbox = useSandbox();
  let pkg: string;
  const at = (...roots: string[]) => ({
    cwd: roots[0]!,
    sandbox: restrict([READ_ALL, ...roots.map((root) => entry(root, "write"))]),
  });
  const listAside = (name = ".git") => readdirSync(pkg).filter((one) => one.startsWith(`${name}-from-sandbox-`));
  beforeEach(() => {
    pkg = join(sandbox.base, "pkg");
    mkdirSync(pkg);
    git(sandbox.base, "init", "-q");
    git(sandbox.base, "commit", "-q", "--allow-empty", "-m", "first");
  });

  describe("has no `.git` in a sandbox, which would hide the repository", () => {
    it.each<[string, () => { roots: string[]; inner: string; top: string }]>([
      ["a package", () => ({ roots: [pkg], inner: pkg, top: sandbox.base })],
      ["a package and its repository", () => ({ roots: [sandbox.base, pkg], inner: pkg, top: sandbox.base })],
      [
        "a package of a linked worktree",
        () => {
          const top = join(sandbox.base, "tree");
          git(sandbox.base, "worktree", "add", "-q", "tree", "HEAD");
          mkdirSync(join(top, "pkg"));
          return { roots: [join(top, "pkg")], inner: join(top, "pkg"), top };
        },
      ],
      [
        "what was a submodule once",
        () => {
          mkdirSync(join(sandbox.base, ".git/modules/pkg"), { recursive: true });
          writeFileSync(join(sandbox.base, ".git/modules/pkg/HEAD"), "ref: refs/heads/main\n");
          return { roots: [sandbox.base], inner: pkg, top: sandbox.base };
        },
      ],
    ])("%s", async (_name, make) => {
      const { roots, inner, top } = make();
      const command = await sandbox.start(
        ["bash", "-c", `ls -A ${inner}; git -C ${inner} rev-parse --show-toplevel; echo ready; sleep 300`],
        at(...roots),
      );
      const output = await untilOutput(command, "ready");
      expect(existsSync(join(inner, ".git"))).toBe(false);
      expect(output.split("\n")).not.toContain(".git");
      expect(output.split("\n")).toContain(top);
      await command.terminate();
    });
  });

  describe("gets none from a command: it is moved aside and the command is ended", () => {
    const REPOSITORY = "git init -q new";
    const bare = "git init -q --bare new.git && mv new.git/* .";
    it.each<[string, string, string]>([
      ["made by git", "git init -q .", ".git"],
      ["prepared elsewhere", `${REPOSITORY} && mv new/.git .git`, ".git"],
      ["a file that refers to one", `${REPOSITORY} && echo gitdir: new/.git >.git`, ".git"],
      ["a link", `${REPOSITORY} && ln -s new/.git .git`, ".git"],
      ["in a directory that is then closed", `${REPOSITORY} && mv new/.git .git; chmod 0 .`, ".git"],
      ["an empty directory that is filled later", "mkdir .git", ".git"],
      ["the directory itself made one", bare, "HEAD"],
    ])("%s", async (_name, script, name) => {
      const { process, outcome } = await sandbox.script(`${script}; sleep 300`, at(pkg));
      expect(outcome).toMatchObject({ kind: "signaled", signal: "SIGKILL" });
      chmodSync(pkg, 0o755);
      expect(listAside(name)).not.toEqual([]);
      expect(process.denial).toMatchObject({ certain: true, reason: expect.stringContaining(listAside(name)[0]!) });
      expect(git(pkg, "rev-parse", "--show-toplevel").trim()).toBe(sandbox.base);
    });

    it("in the last moment before the command ends by itself, which is told", async () => {
      const { process, output } = await sandbox.script("echo begun; git init -q new; exec mv new/.git .git", at(pkg));
      expect(output).toBe("begun\n");
      expect(existsSync(join(pkg, ".git"))).toBe(false);
      expect(process.denial?.reason).toContain(join(pkg, listAside()[0]!));
    });
  });

  it("a command that writes beside it, constantly, is not ended", async () => {
    const script = "for n in {1..500}; do echo $n >f; mv f g; done; git status --short; echo end";
    const { process, output, outcome } = await sandbox.script(script, at(pkg));
    expect([output, outcome, process.denial]).toEqual(["?? ./\nend\n", { kind: "exited", code: 0 }, undefined]);
  });

  it("one that is in no repository has a placeholder as ever: nothing would be hidden", async () => {
    rmSync(join(sandbox.base, ".git"), { recursive: true });
    const { output } = await sandbox.script("git init -q . || ls -A", at(pkg));
    expect(output.split("\n")).toContain(".git");
  });

  it("the guard moves aside what a killed host could not, after the end of the sandbox", async () => {
    const guard = createGuard();
    guard.open();
    const names = [" two  words ", "file", "held", "bare", "gone"];
    for (const name of names) {
      mkdirSync(join(pkg, name));
      guard.addFreeName(join(pkg, name, ".git"));
    }
    guard.removeFreeName(join(pkg, "gone/.git"));
    for (const name of [" two  words ", "gone"]) git(join(pkg, name), "init", "-q");
    writeFileSync(join(pkg, "file/.git"), "gitdir: ../gone/.git\n");
    mkdirSync(join(pkg, "held/.git"));
    utimesSync(join(pkg, "held/.git"), MARK_S, MARK_S);
    for (const name of ["objects", "refs"]) mkdirSync(join(pkg, "bare", name));
    writeFileSync(join(pkg, "bare/HEAD"), "ref: refs/heads/main\n");
    guard.close();
    const list = () =>
      names.map((name) => readdirSync(join(pkg, name)).map((one) => one.replace(/-from-sandbox-\d+$/, "-aside")));
    await expect
      .poll(list)
      .toEqual([[".git-aside"], [".git-aside"], [".git"], ["HEAD-aside", "objects", "refs"], [".git"]]);
    expect(lstatSync(join(pkg, "held/.git")).isDirectory()).toBe(true);
  });
});
