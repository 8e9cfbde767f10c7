import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createNative, type RemoteMounts } from "@codex/native";
import { createLocalBackend } from "@codex/process-host";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { ENV, outputOf } from "../../process-host/test/support.js";
import { createCommandSandbox } from "../src/command-sandbox.js";
import { MAX_MIRROR_WAIT_MS, MAX_RELEASE_MS } from "../src/limits.js";
import { createHostFiles } from "../src/profile/host-files.js";
import { entry, NO_BUBBLEWRAP, pattern, READ_ALL, restrict } from "./support.js";

let base: string;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "codex-mounts-")));
  mkdirSync(join(base, "work"));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
});

it("what a sandbox reaches by links and by git files is waited for before it is accessed", async () => {
  const [git, shared] = [join(base, "main/worktrees/w"), join(base, "main")];
  mkdirSync(git, { recursive: true });
  writeFileSync(join(git, "commondir"), "../..\n");
  writeFileSync(join(base, "work/.git"), `gitdir: ${git}\n`);
  symlinkSync("/far/key", join(base, "work/x.key"));
  const codexHome = join(base, "codex");
  const reached: string[] = [];
  const mounts: RemoteMounts = {
    isAt: () => false,
    async reach(paths) {
      reached.push(...paths);
    },
  };
  const read: string[] = [];
  const files = createHostFiles({ CODEX_HOME: codexHome });
  const sandbox = createCommandSandbox({
    mounts,
    files: {
      ...files,
      firstLine(path) {
        read.push(path);
        if (path !== join(base, "work/.git")) expect(reached).toContain(path);
        return files.firstLine(path);
      },
    },
  });
  await sandbox.search(restrict([READ_ALL, entry(join(base, "work"), "write"), pattern(`${base}/work/*.key`)]));
  // Other tests may hold a `.git` in the directory above.
  const own = read.filter((path) => path.startsWith(base));
  expect(new Set(own)).toEqual(new Set([join(base, "work/.git"), join(git, "commondir"), join(shared, "commondir")]));
  for (const path of [join(base, "work/.git"), git, shared, join(base, "work/x.key"), join(codexHome, "rules")]) {
    expect(reached).toContain(path);
  }
});

it.each([
  ["of the workspace", "top/work", "top/work"],
  ["of a repository around it", "top", "top/work"],
  ["of a repository whose .git file is around it", "main", "top/work"],
])("a submodule on a mount is waited for before it is accessed: %s", async (_which, repository, workspace) => {
  const far = join(base, "far");
  mkdirSync(join(base, "top/work"), { recursive: true });
  mkdirSync(join(far, "lib"), { recursive: true });
  const module = join(base, repository, ".git/modules/lib");
  mkdirSync(module, { recursive: true });
  writeFileSync(join(module, "HEAD"), "ref: refs/heads/main\n");
  writeFileSync(join(module, "config"), `[core]\n\tworktree = ${far}/lib\n`);
  if (repository === "main") writeFileSync(join(base, "top/.git"), `gitdir: ${base}/main/.git\n`);
  let isReached = false;
  const mounts: RemoteMounts = {
    isAt: () => false,
    async reach(paths) {
      if ([...paths].some((path) => path.startsWith(far))) isReached = true;
    },
  };
  const known = createHostFiles({});
  const accessed: string[] = [];
  const watch = <Rest extends unknown[], Result>(access: (path: string, ...rest: Rest) => Result) => {
    return (path: string, ...rest: Rest): Result => {
      if (path.startsWith(far)) expect(isReached, path).toBe(true);
      if (path.startsWith(far)) accessed.push(path);
      return access(path, ...rest);
    };
  };
  const files = { ...known, kind: watch(known.kind), real: watch(known.real), firstLine: watch(known.firstLine) };
  const sandbox = createCommandSandbox({ mounts, files });
  const asked = restrict([READ_ALL, entry(join(base, workspace), "write")]);
  sandbox.resolve(asked, await sandbox.search(asked));
  expect(accessed).toContain(join(far, "lib"));
});

describe.skipIf(NO_BUBBLEWRAP !== undefined)(`a mount that hangs (${NO_BUBBLEWRAP ?? "bubblewrap"})`, () => {
  it("while a command runs does not hold up its end, and its placeholders are removed later", async () => {
    const work = join(base, "work");
    let answer = () => {};
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    let hangs = false;
    const mounts: RemoteMounts = { isAt: () => false, reach: () => (hangs ? answered : undefined) };
    const native = createNative();
    const sandbox = createCommandSandbox({ native, mounts });
    await using backend = createLocalBackend({ native, mounts, sandbox });
    const process = await backend.start({
      argv: ["sh", "-c", "read line; exit 3"],
      cwd: work,
      env: ENV,
      stdio: { kind: "pipe", stdin: "open" },
      sandbox: restrict([READ_ALL, entry(work, "write")]),
    });
    hangs = true;
    await process.write(Buffer.from("\n"));
    await outputOf(process);
    expect(process.outcome).toEqual({ kind: "exited", code: 3 });
    expect(readdirSync(work)).toContain(".git");
    answer();
    await expect.poll(() => readdirSync(work)).toEqual([]);
    expect(MAX_RELEASE_MS).toBe(1_000);
  });

  it("beside a denied file is waited for briefly, and left out of the sandbox", async () => {
    for (const name of ["home/far", "home/near"]) mkdirSync(join(base, name), { recursive: true });
    writeFileSync(join(base, "home/.netrc"), "");
    const far = join(base, "home/far");
    const mounts: RemoteMounts = {
      isAt: (path) => path === far,
      reach: (paths) => ([...paths].includes(far) ? new Promise(() => {}) : undefined),
    };
    const native = createNative();
    const sandbox = createCommandSandbox({ native, mounts });
    await using backend = createLocalBackend({ native, mounts, sandbox });
    const process = await backend.start({
      argv: ["ls", join(base, "home")],
      cwd: join(base, "work"),
      env: ENV,
      stdio: { kind: "pipe", stdin: "null" },
      sandbox: restrict([READ_ALL, entry(join(base, "home/.netrc"), "deny")]),
    });
    expect(await outputOf(process)).toBe("near\n");
    expect(MAX_MIRROR_WAIT_MS).toBe(500);
  });
});
