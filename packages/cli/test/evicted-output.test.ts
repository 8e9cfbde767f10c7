import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createEvictingServer } from "@codex/testkit";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { useCommand } from "./support.js";

describe("codex run on an exec-server that has evicted output during an outage", () => {
  const command = useCommand();
  let directory = "";
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "codex-evicted-"));
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  it.each([
    { name: "names the range", more: { evictedBytes: 5000 }, exitCode: 0, code: 125, to: 5006, after: "after\n" },
    { name: "keeps the code of a failure", more: { evictedBytes: 5000 }, exitCode: 3, code: 3, to: 5006, after: "x" },
    { name: "names an estimate", more: {}, exitCode: 0, code: 125, to: 18, after: "after\n" },
    { name: "names one at the end", more: {}, exitCode: 0, code: 125, to: 18, after: "" },
  ])("$name: exit code $code", async ({ more, exitCode, code, to, after }) => {
    const server = await createEvictingServer({ before: "before", evictedChunks: 2, after, exitCode, ...more });
    const recording = join(directory, "run.cast");
    const run = ["run", "--no-tty", "--executor", server.url, "--record", recording, "--", "program"];
    const ended = await command.run(run).finally(() => server.close());
    expect(ended.stdout.toString()).toBe(`before${after}`);
    expect(ended.stderr).toContain(`bytes 6-${to} of the output are gone`);
    if (!("evictedBytes" in more)) expect(ended.stderr).toContain("estimate");
    expect(ended.code).toBe(code);
    const events = readFileSync(recording, "utf8").split("\n");
    const marked = events.findIndex((line) => line.includes(`"m", "bytes 6-${to} of the output were not retained"`));
    expect(events[marked - 1]).toContain("before");
    if (after !== "") expect(events[marked + 1]).toContain(after.trim());
  });
});
