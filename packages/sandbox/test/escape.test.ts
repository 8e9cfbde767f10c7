import { execFileSync } from "node:child_process";
import { existsSync, linkSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { outputOf, untilOutput } from "../../process-host/test/support.js";
import { entry, NO_BUBBLEWRAP, pattern, READ_ALL, restrict, useSandbox } from "./support.js";

describe.skipIf(NO_BUBBLEWRAP !== undefined)(`what tries to leave a sandbox (${NO_BUBBLEWRAP ?? "bubblewrap"})`, () => {
  const sandbox = useSandbox();
  /** May be written; beside it `outside`, which may not. */
  let inside: string;
  let outside: string;
  beforeEach(() => {
    inside = join(sandbox.base, "inside");
    outside = join(sandbox.base, "outside");
    mkdirSync(inside);
    mkdirSync(outside);
    writeFileSync(join(outside, "file"), "untouched\n");
  });
  const run = (script: string, entries = [entry(inside, "write")]) =>
    sandbox.script(script, { cwd: inside, sandbox: restrict([READ_ALL, ...entries]) });
  const untouched = () => {
    expect(readdirSync(outside)).toEqual(["file"]);
    expect(readFileSync(join(outside, "file"), "utf8")).toBe("untouched\n");
  };

  it.each([
    ["by ..", "echo x > ../outside/file; echo x > ../outside/new"],
    ["through a link of its own", "ln -s ../outside l; echo x > l/file; echo x > l/new"],
    ["through /proc/self/root", 'echo x > "/proc/self/root$PWD/../outside/file"'],
    ["through /proc/1/root", 'echo x > "/proc/1/root$PWD/../outside/file"'],
    ["through /proc/1/cwd", 'echo x > "/proc/1/cwd/$PWD/../outside/file"'],
    ["by a hard link", "ln ../outside/file f && echo x > f"],
    ["by moving", "mv ../outside/file .; mv ../outside gone"],
    ["by chmod and removal", "chmod 777 ../outside/file; rm -rf ../outside"],
    ["by remounting", "mount -o remount,rw / ; mount --bind . ../outside; echo x > ../outside/file"],
    ["by new namespaces", "unshare -Urm sh -c 'mount -o remount,rw /; echo x > ../outside/file'"],
  ])("does not write outside: %s", async (_name, script) => {
    await run(script);
    untouched();
  });

  it("does not write through a link that was there before", async () => {
    symlinkSync(outside, join(inside, "link"));
    await run("echo x > link/file; echo x > link/new");
    untouched();
    // Nor may a sandbox be opened behind it: the command could have made it.
    await expect(run("true", [entry(inside, "write"), entry(join(inside, "link"), "write")])).rejects.toMatchObject({
      code: "sandbox_invalid",
      message: expect.stringContaining("symbolic link"),
    });
  });

  describe("a repository", () => {
    beforeEach(() => {
      execFileSync("git", ["init", "-q", inside]);
    });
    it.each([
      ["a hook", "echo x > .git/hooks/pre-commit"],
      ["its settings", "git config core.hooksPath ."],
      ["its place", "mv .git elsewhere; rm -rf .git; mkdir .git"],
      ["a hook by hard link", "ln .git/config c && echo x > c"],
    ])("keeps %s", async (_name, script) => {
      const list = () =>
        execFileSync("find", [join(inside, ".git"), "-type", "f", "-exec", "md5sum", "{}", "+"]).toString();
      const before = list();
      const { output } = await run(script);
      expect(list()).toBe(before);
      expect(output).not.toBe("");
    });

    it("can be committed to where the sandbox opens it, hooks and settings still closed", async () => {
      const git = join(inside, ".git");
      const entries = [
        entry(inside, "write"),
        entry(git, "write"),
        entry(join(git, "hooks"), "read"),
        entry(join(git, "config"), "read"),
      ];
      const script =
        "echo x > a; git add a && git -c user.name=a -c user.email=b commit -qm one && git log --format=%s";
      const { output } = await run(`${script}; echo x > .git/hooks/pre-commit; git config a.b c`, entries);
      expect(output).toMatch(/^one\n/);
      expect(existsSync(join(git, "hooks/pre-commit"))).toBe(false);
      expect(readFileSync(join(git, "config"), "utf8")).not.toContain("[a]");
    });

    it("opens what is named within it, and that alone", async () => {
      const git = join(inside, ".git");
      await run("touch .git/objects/x .git/x", [entry(inside, "write"), entry(join(git, "objects"), "write")]);
      expect(existsSync(join(git, "objects/x"))).toBe(true);
      expect(existsSync(join(git, "x"))).toBe(false);
    });
  });

  it("does not write where a .git file leads, nor moves what is on the way", async () => {
    const main = join(inside, "main");
    execFileSync("git", ["init", "-q", main]);
    execFileSync("git", [
      "-C",
      main,
      "-c",
      "user.name=a",
      "-c",
      "user.email=b",
      "commit",
      "-q",
      "--allow-empty",
      "-m",
      "x",
    ]);
    execFileSync("git", ["-C", main, "worktree", "add", "-q", join(inside, "tree")]);
    const worktree = join(main, ".git/worktrees/tree");
    const { output } = await sandbox.script(
      `echo x > ${worktree}/x; echo x > ${main}/.git/hooks/h; mv ${main} ${main}2; mv .git g; echo gitdir: /tmp > .git`,
      {
        cwd: join(inside, "tree"),
        sandbox: restrict([READ_ALL, entry(inside, "write"), entry(join(inside, "tree"), "write")]),
      },
    );
    expect(output.split("\n").length).toBeGreaterThanOrEqual(5);
    expect(existsSync(join(worktree, "x"))).toBe(false);
    expect(existsSync(join(main, ".git/hooks/h"))).toBe(false);
    expect(existsSync(`${main}2`)).toBe(false);
  });

  it.each([".git", ".agents", ".codex", ".aws"])("does not make %s, in two sandboxes at once neither", async (name) => {
    const path = join(inside, name);
    const long = await sandbox.start(
      ["bash", "-c", `echo ready; read -r; mkdir -p ${name}/hooks; touch ${name}/x; echo done`],
      {
        cwd: inside,
        sandbox: restrict([READ_ALL, entry(inside, "write")]),
        stdio: { kind: "pipe", stdin: "open" },
      },
    );
    await untilOutput(long, "ready");
    // The second one comes and goes while the first one runs.
    const { output } = await run(`rmdir ${name}; mv ${name} other; rm -rf ${name}; touch ${name}/x; mkdir ${name}`);
    expect(output.split("\n").length).toBeGreaterThanOrEqual(4);
    await long.write(Buffer.from("\n"));
    expect(await outputOf(long)).toContain("Read-only file system");
    expect(existsSync(path)).toBe(false);
  });

  it("takes away what a sandbox left behind that was killed with its host", async () => {
    const left = join(inside, ".codex");
    execFileSync("sh", ["-c", `mkdir ${left} && touch -d @23117 ${left}`]);
    mkdirSync(join(inside, ".aws"));
    await run("touch .codex/x .aws/x");
    expect(readdirSync(inside)).toEqual([".aws"]);
  });

  it("leaves to its owner what was put into a name that was kept free", async () => {
    const process = await sandbox.start(["bash", "-c", "echo ready; read -r"], {
      cwd: inside,
      sandbox: restrict([READ_ALL, entry(inside, "write")]),
      stdio: { kind: "pipe", stdin: "open" },
    });
    await untilOutput(process, "ready");
    writeFileSync(join(inside, ".codex/config.toml"), "");
    await process.write(Buffer.from("\n"));
    await process.closed;
    expect(readdirSync(join(inside, ".codex"))).toEqual(["config.toml"]);
  });

  it("does not rename a directory around a closed one", async () => {
    mkdirSync(join(inside, "a/b/c"), { recursive: true });
    const { output } = await run("mv a x; mv a/b a/x; mv a/b/c a/b/x; mkdir -p a/b/c; touch a/b/c/new", [
      entry(inside, "write"),
      entry(join(inside, "a/b/c"), "read"),
    ]);
    expect(output.match(/cannot move/g)).toHaveLength(3);
    expect(readdirSync(join(inside, "a/b/c"))).toEqual([]);
  });

  describe("what is denied", () => {
    beforeEach(() => {
      mkdirSync(join(inside, "keys"));
      writeFileSync(join(inside, "keys/id"), "secret\n");
      writeFileSync(join(inside, "token"), "secret\n");
    });
    const deny = () => [
      entry(inside, "write"),
      entry(join(inside, "keys"), "deny"),
      entry(join(inside, "token"), "deny"),
    ];

    it.each([
      ["by its name", "cat keys/id token; ls -la keys"],
      ["through a link", "ln -s keys k; ln -s token t; cat k/id t"],
      ["through a hard link", "ln keys/id h; ln token i; cat h i"],
      ["through /proc", 'cat "/proc/self/root$PWD/keys/id" "/proc/1/root$PWD/token"'],
      ["after a change of its mode", "chmod 777 keys token; cat keys/id token"],
      ["after a move", "mv keys k; mv token t; cat k/id t"],
      ["after an unmount", "umount keys token; cat keys/id token"],
    ])("is not read: %s", async (_name, script) => {
      const { output } = await run(script, deny());
      expect(output).not.toContain("secret");
      expect(output).not.toBe("");
    });

    it("is found by a pattern, links to it included", async () => {
      mkdirSync(join(inside, "deep/er"), { recursive: true });
      writeFileSync(join(inside, "deep/er/.env"), "secret\n");
      symlinkSync("../../token", join(inside, "deep/er/.env.local"));
      const { output } = await run("cat deep/er/.env deep/er/.env.local token", [
        pattern(`${outside}/../inside/deep/**/.env*`),
      ]);
      expect(output).not.toContain("secret");
    });

    it("stays closed around what is opened within", async () => {
      mkdirSync(join(inside, "keys/public"));
      writeFileSync(join(inside, "keys/public/a"), "open\n");
      const { output } = await run("cat keys/public/a; ls keys; cat keys/id", [
        ...deny(),
        entry(join(inside, "keys/public"), "read"),
      ]);
      expect(output).toMatch(/^open\n/);
      expect(output).not.toContain("secret");
      expect(output).toContain("cannot open directory");
    });

    it("leaves open another name of the same file: a mount closes a name", async () => {
      linkSync(join(inside, "token"), join(outside, "name"));
      const { output } = await run(`cat ${outside}/name`, deny());
      expect(output).toBe("secret\n");
    });
  });
});
