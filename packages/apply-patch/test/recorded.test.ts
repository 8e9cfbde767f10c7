import { parsePatch } from "@codex/apply-patch";
import { describe, expect, it } from "vitest";
import { MemoryTree, RECORDED } from "./tree.js";

/** The planner knows no file below a file, no environment and no shell: the tool's tests have these. */
const NEEDS_FILES = new Set([
  "add-below-file",
  "move-unwritable-target",
  "environment-id",
  "shell-cd-heredoc",
  "shell-fails",
]);

describe("patches recorded from Codex 0.169.0", () => {
  it.each(RECORDED.filter(({ name }) => !NEEDS_FILES.has(name)))(
    "$name",
    ({ before, patch, ok, output, after, gist, better }) => {
      const tree = new MemoryTree(before);
      const answer = tree.apply(patch!);
      const accepted = [{ ok, after, gist }, ...(better ?? [])].map((one) => [
        one.ok,
        new MemoryTree(one.after).contents(),
      ]);
      expect(accepted).toContainEqual([answer.ok, tree.contents()]);
      if (answer.ok && ok) expect(answer.output).toBe(output.replace("<t>", "0"));
      if (!answer.ok) for (const pattern of gist ?? []) expect(answer.output).toMatch(new RegExp(pattern, "is"));
    },
  );

  it("tells the environment of a patch", () => {
    const { patch } = RECORDED.find(({ name }) => name === "environment-id")!;
    expect(parsePatch(patch!)).toMatchObject({ ok: true, patch: { environmentId: "remote" } });
  });
});
