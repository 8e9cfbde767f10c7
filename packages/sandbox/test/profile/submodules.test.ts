import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { entry, NO_BUBBLEWRAP, READ_ALL, restrict, useSandbox } from "../support.js";

describe.skipIf(NO_BUBBLEWRAP !== undefined)(`submodules (${NO_BUBBLEWRAP ?? "bubblewrap"})`, () => {
  const sandbox = useSandbox();
  let top: string;
  const git = (directory: string, ...args: string[]) => {
    const settings = ["protocol.file.allow=always", "user.name=a", "user.email=a@example.com"];
    return execFileSync("git", ["-C", directory, ...settings.flatMap((each) => ["-c", each]), ...args], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    });
  };
  const create = (name: string, submodules: readonly (readonly [from: string, path: string])[] = []) => {
    const path = join(realpathSync(sandbox.base), name);
    mkdirSync(path);
    git(path, "init", "-q");
    for (const [from, inner] of submodules) git(path, "submodule", "--quiet", "add", from, inner);
    git(path, "commit", "-q", "--allow-empty", "-m", "first");
    return path;
  };
  beforeEach(() => {
    const leaf = create("leaf");
    const middle = create("middle", [[leaf, "in/leaf"]]);
    top = create("top", [
      [middle, "libs/middle"],
      [leaf, "a leaf; # 1"],
    ]);
    git(top, "submodule", "--quiet", "update", "--init", "--recursive");
  });

  /** Runs a script that may use `plant DIRECTORY`, then lists the submodules where git outside ran what was planted. */
  const attack = async (script: string, cwd = top) => {
    const ran = join(sandbox.base, "ran");
    const planting = `plant() {
      mkdir -p "$PWD/.planted"; git init -q "$PWD/.planted"
      git -C "$PWD/.planted" config core.fsmonitor 'pwd >> ${ran}; false'; git -C "$PWD/.planted" config core.worktree "$1"
      mkdir -p "$1"; echo "gitdir: $PWD/.planted/.git" > "$1/.git"
    }`;
    const asked = restrict([READ_ALL, entry(cwd, "write")]);
    await sandbox.script(`${planting}; ${script}`, { cwd, sandbox: asked });
    git(top, "status", "--short");
    return existsSync(ran) ? readFileSync(ran, "utf8") : "nothing";
  };

  it.each([
    ["written", 'plant "$PWD/libs/middle"; plant "$PWD/a leaf; # 1"'],
    ["of submodules of submodules", 'plant "$PWD/libs/middle/in/leaf"'],
    ["in another directory of this name", 'mv libs old; mkdir libs; plant "$PWD/libs/middle"'],
    ["removed first", 'rm -rf libs; mkdir -p libs/middle; plant "$PWD/libs/middle"'],
  ])("keep their .git: %s", async (_how, script) => {
    const before = readFileSync(join(top, "libs/middle/.git"), "utf8");
    expect(await attack(script)).toBe("nothing");
    expect(readFileSync(join(top, "libs/middle/.git"), "utf8")).toBe(before);
  });

  it("get none where they were deinitialized or are empty", async () => {
    git(top, "submodule", "--quiet", "deinit", "-f", "libs/middle");
    expect(await attack('plant "$PWD/libs/middle"')).toBe("nothing");
    expect(existsSync(join(top, "libs/middle/.git"))).toBe(false);
  });

  it.each(["2", "4"])("get none where they were never initialized, with an index of version %s", async (version) => {
    const clone = join(sandbox.base, "clone");
    git(sandbox.base, "clone", "-q", top, clone);
    top = clone;
    git(top, "update-index", "--index-version", version);
    expect(await attack('plant "$PWD/libs/middle"; plant "$PWD/a leaf; # 1"')).toBe("nothing");
    expect(existsSync(join(top, "libs/middle/.git"))).toBe(false);
  });

  it("get none where their directory is missing", async () => {
    rmSync(join(top, "a leaf; # 1"), { recursive: true });
    git(top, "config", "--unset", "submodule.a leaf; # 1.url");
    rmSync(join(top, ".git/modules/a leaf; # 1"), { recursive: true, force: true });
    expect(await attack('plant "$PWD/a leaf; # 1"')).toBe("nothing");
    expect(existsSync(join(top, "a leaf; # 1"))).toBe(false);
  });

  it("keep their .git with long names and objects named by SHA-256", async () => {
    const library = join(sandbox.base, "library");
    top = join(sandbox.base, "other");
    for (const path of [library, top]) {
      mkdirSync(path);
      git(path, "init", "-q", "--object-format=sha256");
      git(path, "commit", "-q", "--allow-empty", "-m", "first");
    }
    const names = Array.from({ length: 12 }, (_, index) => `${"n".repeat(200 + index)}/x`);
    for (const name of names) {
      mkdirSync(join(top, name), { recursive: true });
      git(top, "update-index", "--add", "--cacheinfo", `160000,${git(library, "rev-parse", "HEAD").trim()},${name}`);
    }
    expect(await attack(names.map((name) => `plant "$PWD/${name}"`).join("; "))).toBe("nothing");
  });

  it("keep their .git where the workspace is a part of the repository", async () => {
    expect(await attack('plant "$PWD/middle"', join(top, "libs"))).toBe("nothing");
  });

  it("may be anything but a directory by now", async () => {
    rmSync(join(top, "libs/middle"), { recursive: true });
    const run = (script: string) =>
      sandbox.script(script, { cwd: top, sandbox: restrict([READ_ALL, entry(top, "write")]) });
    symlinkSync("..", join(top, "libs/middle"));
    expect((await run("echo done")).output).toBe("done\n");
    rmSync(join(top, "libs/middle"));
    writeFileSync(join(top, "libs/middle"), "");
    expect((await run("echo done")).output).toBe("done\n");
  });
});
