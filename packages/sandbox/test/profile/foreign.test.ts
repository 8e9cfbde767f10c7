import { execFileSync } from "node:child_process";
import {
  chmodSync,
  lchownSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createCommandSandbox } from "../../src/command-sandbox.js";
import { MAX_PATTERN_MATCHES } from "../../src/limits.js";
import { createHostFiles } from "../../src/profile/host-files.js";
import { entry, pattern, READ_ALL, restrict, type SandboxEntry } from "../support.js";

const OTHER = 12_345;

/** Paths below a directory that a sandbox denies. */
async function denied(base: string, entries: readonly SandboxEntry[], home = base): Promise<string[]> {
  const host = createCommandSandbox({ files: { ...createHostFiles({ HOME: home }), codexHome: undefined } });
  const sandbox = restrict([READ_ALL, ...entries], { cwd: join(base, "work") });
  const { fileSystem } = host.resolve(sandbox, await host.search(sandbox));
  if (fileSystem === "unrestricted") throw new Error("expected a restricted file system");
  const paths = fileSystem.entries.filter(({ access }) => access === "deny").map(({ path }) => path);
  return paths.map((path) => (path.startsWith(`${base}/`) ? path.slice(base.length + 1) : path)).sort();
}

let base: string;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "codex-foreign-")));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const asRoot = process.getuid?.() === 0 ? undefined : "only root can make files of another user";
describe.skipIf(asRoot !== undefined)(
  `what another user has where everybody may write (${asRoot ?? "as root"})`,
  () => {
    let shared: string;
    beforeEach(() => {
      shared = join(base, "shared");
      mkdirSync(shared);
      chmodSync(shared, 0o1777);
    });
    const give = (name: string, owner = OTHER) => lchownSync(join(shared, name), owner, owner);
    const search = () =>
      denied(base, [entry(shared, "write"), pattern(`${shared}/tmux-*`), pattern(`${shared}/*/auth`)]);

    it("is no match of a pattern, and stops no command; what this user and root have there is", async () => {
      symlinkSync("/usr", join(shared, "tmux-x"));
      mkdirSync(join(shared, "tmux-y"));
      execFileSync("bash", ["-c", "touch tmux-$'\\xff'; chown -h 12345 *"], { cwd: shared });
      mkdirSync(join(shared, "tmux-own"));
      symlinkSync("/usr", join(shared, ".git"));
      give(".git");
      expect(await search()).toEqual(["shared/tmux-own"]);
    });

    it("is searched with bounds that it cannot use up", async () => {
      writeFileSync(join(shared, "tmux-"), "");
      give("tmux-");
      for (let index = 0; index <= MAX_PATTERN_MATCHES; index += 1) {
        linkSync(join(shared, "tmux-"), join(shared, `tmux-${index}`));
      }
      expect(await search()).toEqual([]);
    });

    it("is no git directory of a writable root", async () => {
      writeFileSync(join(shared, ".git"), `gitdir: ${join(shared, "victim")}\n`);
      mkdirSync(join(shared, "victim"));
      give(".git");
      const { fileSystem } = createCommandSandbox().resolve(restrict([READ_ALL, entry(shared, "write")]));
      if (fileSystem === "unrestricted") throw new Error("expected a restricted file system");
      expect(fileSystem.entries.map(({ path }) => path)).not.toContain(join(shared, "victim"));
    });

    it("counts in a directory of its own: the executor may be root, and the workspace another user's", async () => {
      const work = join(base, "work");
      mkdirSync(work);
      writeFileSync(join(work, ".env"), "");
      lchownSync(join(work, ".env"), OTHER, OTHER);
      lchownSync(work, OTHER, OTHER);
      expect(await denied(base, [entry(work, "write"), pattern(`${work}/**/.env`)])).toEqual(["work/.env"]);
    });

    it("of this user that cannot be closed is named with its pattern", async () => {
      symlinkSync("/usr", join(shared, "tmux-x"));
      await expect(search()).rejects.toMatchObject({
        code: "sandbox_invalid",
        message: expect.stringMatching(/`.*\/tmux-x` crosses the symbolic link .*; pattern `.*\/tmux-\*` matches it/),
      });
    });
  },
);

describe("a denied directory", () => {
  const secrets = () => entry(join(base, ".ssh"), "deny");
  beforeEach(() => {
    for (const name of [".ssh/inner/most", "dotfiles/ssh/keys", "work", "bin"])
      mkdirSync(join(base, name), { recursive: true });
    for (const name of ["id", "other", "inmost", "keys/a", "known"])
      writeFileSync(join(base, "dotfiles/ssh", name), "");
    writeFileSync(join(base, "bin/tool"), "", { mode: 0o755 });
  });
  const link = (name: string, target: string) => symlinkSync(target, join(base, ".ssh", name));

  it("covers what its links lead to", async () => {
    link("id", "../dotfiles/ssh/id");
    link("inner/other", join(base, "dotfiles/ssh/other"));
    link("inner/most/key", "../../../dotfiles/ssh/inmost");
    link("keys", "../dotfiles/ssh/keys");
    link("inside", "inner");
    link("gone", "../nowhere");
    expect(await denied(base, [secrets()])).toEqual([
      ".ssh",
      "dotfiles/ssh/id",
      "dotfiles/ssh/inmost",
      "dotfiles/ssh/keys",
      "dotfiles/ssh/other",
    ]);
  });

  it("closes by its links neither programs, nor the system, nor where the command works, nor what is readable by name", async () => {
    link("tool", "../bin/tool");
    link("system", "/usr/share");
    link("home", base);
    link("work", "../work");
    link("known_hosts", "../dotfiles/ssh/known");
    expect(await denied(base, [secrets(), entry(join(base, ".ssh/known_hosts"), "read")])).toEqual([".ssh"]);
  });
});
