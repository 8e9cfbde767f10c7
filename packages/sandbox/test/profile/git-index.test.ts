import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { listGitlinks } from "../../src/profile/git-index.js";

it.each(["2", "3", "4"])(
  "finds the submodules of an index of version %s, and reads damaged ones without an error",
  (version) => {
    const work = mkdtempSync(join(tmpdir(), "codex-index-"));
    onTestFinished(() => rmSync(work, { recursive: true }));
    const git = (...args: string[]) => execFileSync("git", ["-C", work, ...args], { encoding: "utf8" });
    git("init", "-q");
    const commit = "1".repeat(40);
    for (let length = 1; length < 20; length += 1) {
      git("update-index", "--add", "--cacheinfo", `160000,${commit},${"d".repeat(length)}/sub`);
      writeFileSync(join(work, "f".repeat(length)), "");
    }
    git("add", "--all", "--", "f*");
    // A flag that needs version 3.
    if (version === "3") git("update-index", "--skip-worktree", "fff");
    else git("update-index", "--index-version", version);
    const index = readFileSync(join(work, ".git/index"));
    expect(index.readUInt32BE(4)).toBe(Number(version));
    const wanted = Array.from({ length: 19 }, (_, at) => `${"d".repeat(at + 1)}/sub`);
    expect(listGitlinks(index, 20).sort()).toEqual(wanted.sort());
    for (let length = 0; length < index.length; length += 1) {
      expect(listGitlinks(index.subarray(0, length), 20).length).toBeLessThanOrEqual(wanted.length);
      const damaged = Buffer.from(index);
      damaged.fill(0xff, length, Math.min(length + 4, index.length));
      expect(listGitlinks(damaged, 20).length).toBeLessThanOrEqual(index.readUInt32BE(8));
    }
    expect(listGitlinks(Buffer.from("something else"), 20)).toEqual([]);
  },
);
