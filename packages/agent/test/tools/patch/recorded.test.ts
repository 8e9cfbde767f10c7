import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { type Entry, useHost } from "../../host.js";
import { createPatchTool } from "./support.js";

interface RecordedCase {
  name: string;
  before: Record<string, Entry>;
  patch?: string;
  cmd?: string;
  ok: boolean;
  output: string;
  after: Record<string, Entry>;
  gist?: string[];
  better?: { ok: boolean; after: Record<string, Entry>; gist?: string[] }[];
}

// Recorded from Codex 0.169.0; its `rules` explain the members.
const file = new URL("../../../../apply-patch/test/corpus/recorded.json", import.meta.url);
const { cases } = JSON.parse(readFileSync(file, "utf8")) as { cases: RecordedCase[] };

describe("patches recorded from Codex 0.169.0, on real files", () => {
  const host = useHost();

  it.each(cases)("$name", async ({ before, patch, cmd, ok, output, after, gist, better = [] }) => {
    host.put(before);
    const at = (text: string) => text.replaceAll("$WS", host.root);
    const tool = createPatchTool(host.files, host.root);
    const answer =
      patch === undefined ? await tool.call({ cmd }, "exec_command") : await tool.call({ input: at(patch) });
    const isOk = answer.status === "completed";
    const accepted = [{ ok, after, gist }, ...better].filter((one) => one.ok === isOk);
    // A mode that was not recorded may be kept as well.
    expect(accepted.map((one) => one.after)).toContainEqual(host.tree());
    if (ok && isOk)
      expect(answer.output).toBe(
        at(output)
          .replace("<t>", cmd === undefined ? "0" : "0.0000")
          .replace("<t>", "0"),
      );
    if (!isOk) {
      const wanted = accepted.find((one) => JSON.stringify(one.after) === JSON.stringify(host.tree())) ?? accepted[0]!;
      for (const pattern of wanted.gist ?? []) expect(answer.output).toMatch(new RegExp(pattern, "is"));
    }
  });
});
