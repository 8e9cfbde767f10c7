import { execFileSync } from "node:child_process";
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { entry, NO_BUBBLEWRAP, READ_ALL, restrict, type SandboxEntry, useSandbox } from "../support.js";

describe.skipIf(NO_BUBBLEWRAP !== undefined)(
  `a git directory opened for commits (${NO_BUBBLEWRAP ?? "bubblewrap"})`,
  () => {
    const sandbox = useSandbox();
    let work: string;
    let git: string;
    const outside = (...args: string[]) => execFileSync("git", ["-C", work, ...args], { encoding: "utf8" });
    beforeEach(() => {
      work = join(sandbox.base, "work");
      git = join(work, ".git");
      execFileSync("git", ["init", "-q", "-b", "main", work]);
      outside("config", "user.email", "a@example.com");
      outside("config", "user.name", "a");
      writeFileSync(join(work, "f"), "zero\n");
      outside("add", "f");
      outside("commit", "-qm", "zero");
    });
    const run = (
      script: string,
      cwd = work,
      more: SandboxEntry[] = [entry(git, "write"), entry(join(git, "config"), "read")],
    ) => sandbox.script(script, { cwd, sandbox: restrict([READ_ALL, entry(cwd, "write"), ...more]) });

    it.each([
      ["add and commit", "echo 1 > g; git add g; git commit -qm one", "one\nzero\n"],
      ["commit -a", "echo 1 > f; git commit -qam one", "one\nzero\n"],
      ["amend", "git commit -q --amend -m other", "other\n"],
      ["with a message from an editor", "GIT_EDITOR='echo typed >' git commit -q --allow-empty", "typed\nzero\n"],
      [
        "with packed refs",
        "git commit -q --allow-empty -m one; git tag x; git commit -q --allow-empty -m two",
        "two\none\nzero\n",
      ],
      ["a part of the tree", "echo 1 > f; echo 2 > g; git commit -qm one f", "one\nzero\n"],
      [
        "a merge",
        "B=$(git commit-tree HEAD^{tree} -p HEAD -m side); git commit -q --allow-empty -m one; git merge -q -m merged $B",
        "merged\none\nside\nzero\n",
      ],
    ])("takes %s", async (_what, script, log) => {
      outside("pack-refs", "--all");
      const { output, outcome } = await run(`set -e; ${script}`);
      expect(outcome, output).toEqual({ kind: "exited", code: 0 });
      expect(outside("log", "--format=%s").split("\n").sort()).toEqual(log.split("\n").sort());
      expect(outside("fsck", "--strict")).not.toContain("error");
      expect(outside("diff", "--cached")).toBe("");
    });

    it("takes a commit in a worktree of a main checkout whose git directory was opened, and no more", async () => {
      const tree = join(sandbox.base, "tree");
      outside("worktree", "add", "-q", tree, "-b", "feat");
      const opened = [entry(git, "write")];
      const { outcome, output } = await run("echo 1 > g; git add g; git commit -qm one", tree, opened);
      expect(outcome, output).toEqual({ kind: "exited", code: 0 });
      expect(outside("log", "--format=%s", "-1", "feat")).toBe("one\n");
      const inner = join(git, "worktrees/tree");
      const closed = await run(
        `for n in config.worktree hooks/x gitdir; do echo x 2>/dev/null >> ${inner}/$n && echo $n; done; true`,
        tree,
        opened,
      );
      expect(closed.output).toBe("");
      // A file that names another directory opens nothing.
      writeFileSync(join(tree, ".git"), `gitdir: ${sandbox.base}/other\n`);
      mkdirSync(join(sandbox.base, "other"));
      writeFileSync(join(sandbox.base, "other/commondir"), git);
      const other = await run(`echo x > ${sandbox.base}/other/HEAD`, tree, opened);
      expect(other.output).toContain("Read-only file system");
    });

    it("takes a merge that stopped, and one on a detached HEAD", async () => {
      const script = `set -e; echo a > f; T=$(git stash create); B=$(git commit-tree $T^{tree} -p HEAD -m side); git checkout -q -- f
      echo b > f; git commit -qam one; git merge -q $B || true; echo ab > f; git commit -qam merged`;
      const { outcome, output } = await run(script);
      expect(outcome, output).toEqual({ kind: "exited", code: 0 });
      expect(outside("log", "--format=%s", "-1")).toBe("merged\n");
      expect(existsSync(join(git, "MERGE_HEAD"))).toBe(false);
      outside("checkout", "-q", "--detach");
      expect((await run("git commit -q --allow-empty -m detached")).outcome).toEqual({ kind: "exited", code: 0 });
      expect(outside("log", "--format=%s", "-1")).toBe("detached\n");
    });

    it("takes nothing that git runs or trusts", async () => {
      mkdirSync(join(git, "lfs"));
      writeFileSync(join(git, "FETCH_HEAD"), "fetched\n");
      const list = () =>
        execFileSync("find", [git, "-not", "-path", "*/objects*"], { encoding: "utf8" }).split("\n").sort().join("\n");
      const content = (name: string) => readFileSync(join(git, name), "utf8");
      const before = { list: list(), head: content("HEAD"), config: content("config"), fetched: content("FETCH_HEAD") };
      const attempts = [
        ...[
          "rebase-merge",
          "rebase-apply",
          "sequencer",
          "remotes",
          "branches",
          "modules/m",
          "worktrees/w",
          "hooks/x",
        ].map((name) => `mkdir -p .git/${name}/sub`),
        ...[
          "remotes/origin",
          "branches/x",
          "sequencer/todo",
          "rebase-merge/git-rebase-todo",
          "info/attributes",
          "lfs/x",
        ].map((name) => `echo x > .git/${name}`),
        ...["config", "config.worktree", "commondir", "gitdir", "HEAD", "FETCH_HEAD", "description"].map(
          (name) => `rm -f .git/${name}; echo x > .git/${name}`,
        ),
        ...["config", "HEAD", "hooks", "objects", "refs", "logs", "info"].map((name) => `mv .git/${name} .git/moved`),
        "git switch -qc other",
        "git config a.b c",
        "git remote add x /tmp",
      ];
      for (const attempt of attempts) {
        expect((await run(attempt)).outcome, attempt).not.toEqual({ kind: "exited", code: 0 });
      }
      expect({
        list: list(),
        head: content("HEAD"),
        config: content("config"),
        fetched: content("FETCH_HEAD"),
      }).toEqual(before);
    });

    it.each([
      "COMMIT_EDITMSG",
      "logs/HEAD",
      "logs/refs/heads/main",
      "MERGE_MSG",
      "FETCH_HEAD",
      "index",
      "logs/refs/heads/new",
      "refs/heads/dir",
    ])("leaves no link at %s", async (name) => {
      const target = join(sandbox.base, "target");
      writeFileSync(target, "");
      symlinkSync("f", join(work, "link")); // what was there before, and elsewhere, is nobody's business
      await run(`ln -sfn ${target} .git/${name}; ln -s f link2; ls -la .git`);
      const there = lstatSync(join(git, name), { throwIfNoEntry: false });
      expect(there?.isSymbolicLink() ?? false).toBe(false);
      expect(readdirSync(work)).toEqual(expect.arrayContaining(["link", "link2"]));
      outside("reset", "-q");
      outside("commit", "-q", "--allow-empty", "-m", "next");
      expect(readFileSync(target, "utf8")).toBe("");
    });

    it("is that of a worktree as well", async () => {
      const tree = join(sandbox.base, "tree");
      outside("worktree", "add", "-q", tree);
      const own = join(git, "worktrees/tree");
      const entries = [
        ...[entry(own, "write"), entry(join(own, "config"), "read")],
        ...["objects", "refs", "logs"].map((name) => entry(join(git, name), "write")),
      ];
      const { output, outcome } = await run("echo 1 > g; git add g; git commit -qm inside", tree, entries);
      expect(outcome, output).toEqual({ kind: "exited", code: 0 });
      expect(outside("log", "--format=%s", "tree")).toBe("inside\nzero\n");
      for (const attempt of [
        `mkdir ${own}/rebase-merge`,
        `echo x > ${own}/commondir`,
        `echo x > ${own}/gitdir`,
        `mv ${own}/HEAD ${own}/H`,
        `echo x > ${git}/config`,
        `mkdir ${git}/rebase-merge`,
      ]) {
        expect((await run(attempt, tree, entries)).outcome, attempt).not.toEqual({ kind: "exited", code: 0 });
      }
      await run(`ln -sf /tmp/x ${git}/logs/HEAD; ln -sf /tmp/x ${own}/MERGE_MSG`, tree, entries);
      expect(lstatSync(join(git, "logs/HEAD"), { throwIfNoEntry: false })?.isSymbolicLink() ?? false).toBe(false);
      expect(existsSync(join(own, "MERGE_MSG"))).toBe(false);
    });

    it.each([
      ["a bare repository", "bare"],
      ["the git directory of a checkout", "work/.git"],
      ["the git directory of a worktree", "work/.git/worktrees/tree"],
    ])("is not opened further where it is the workspace: %s", async (_what, name) => {
      outside("worktree", "add", "-q", join(sandbox.base, "tree"));
      execFileSync("git", ["clone", "-q", "--bare", work, join(sandbox.base, "bare")]);
      const root = join(sandbox.base, name);
      mkdirSync(join(root, "hooks"), { recursive: true });
      for (const attempt of [
        "echo x > hooks/post-update",
        "mv hooks moved",
        "echo x >> config",
        "rm -f config; echo x > config",
        "echo x > config.worktree",
        "echo .. > commondir",
        "echo x > info/attributes",
        "mkdir -p modules/m",
        "mkdir -p worktrees/w",
      ]) {
        expect((await run(attempt, root, [])).outcome, attempt).not.toEqual({ kind: "exited", code: 0 });
      }
      const made = await run("echo x > note && mkdir dir && git rev-parse --git-dir", root, []);
      expect(made.outcome, made.output).toEqual({ kind: "exited", code: 0 });
      expect(readdirSync(root)).not.toContain("modules");
    });
  },
);
