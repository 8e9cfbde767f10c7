import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createHomeFiles } from "@codex/agent/node";
import { expect, it, onTestFinished } from "vitest";
import { MAX_SKILL_BYTES } from "../../src/limits.js";

it("reads instructions and skills of a person", async () => {
  const root = mkdtempSync(join(realpathSync(tmpdir()), "home-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const put = (path: string, text: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  const at = (path: string) => join(root, path);
  const files = createHomeFiles({ codexHome: at(".codex"), home: root, isShared: true });
  expect(await files.readDoc("AGENTS.md")).toBeUndefined();
  expect(await files.readSkills()).toEqual([]);

  put(".codex/AGENTS.md", "mine");
  put(".codex/skills/b/deep/SKILL.md", "b");
  put(".codex/skills/a/SKILL.md", "a");
  put(".codex/skills/.hidden/SKILL.md", "no");
  put(".codex/skills/large/SKILL.md", "x".repeat(MAX_SKILL_BYTES + 1));
  put(".codex/AGENTS.override.md/x", "a directory");
  put(".agents/skills/c/SKILL.md", "c");
  expect(Buffer.from((await files.readDoc("AGENTS.md")) ?? "").toString()).toBe("mine");
  expect(await files.readDoc("AGENTS.override.md")).toBeUndefined();
  expect(await files.readSkills()).toEqual([
    { root: at(".codex/skills"), path: at(".codex/skills/a/SKILL.md"), text: "a" },
    { root: at(".codex/skills"), path: at(".codex/skills/b/deep/SKILL.md"), text: "b" },
    { root: at(".agents/skills"), path: at(".agents/skills/c/SKILL.md"), text: "c" },
  ]);
});
