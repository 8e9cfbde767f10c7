import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { createServerBundle } from "../src/server-bundle.js";
import { codex, finish } from "./support.js";

let files: Awaited<ReturnType<ReturnType<typeof createServerBundle>["listFiles"]>>["files"];
beforeAll(async () => {
  ({ files } = await createServerBundle(codex).listFiles({ platform: "other", arch: "other", libc: "other" }));
});

/** The command as it is on another host, where nothing else of this one is. */
function install(): string {
  const directory = mkdtempSync(join(tmpdir(), "uploaded-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  for (const { path, bytes } of files) {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), bytes);
  }
  return directory;
}

describe("the command that ssh:// uploads", () => {
  const run = (words: readonly string[], input = "") => {
    const directory = install();
    const env = { PATH: process.env.PATH ?? "", HOME: directory, XDG_RUNTIME_DIR: directory };
    const child = spawn(process.execPath, [join(directory, "codex.js"), ...words], { cwd: directory, env });
    onTestFinished(() => void child.kill("SIGKILL"));
    child.stdin.end(input);
    return finish(child);
  };

  it.each([
    ["--help"],
    ["help", "exec-server"],
    ["exec-server", "--help"],
    ["exec-server", "-h"],
    ["--version"],
    ["exec-server", "--version"],
  ])("answers %s %s", async (...words) => {
    const { code, stdout, stderr } = await run(words);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout.toString()).toMatch(words.includes("--version") ? /^codex/ : /^Usage: codex[\s\S]*exec-server/);
  });

  it.each([
    [["exec-server", "--attach", "--status", "--idle-timeout", "5"], 1, /^codex: no background server is running\n$/],
    [["exec-server", "--resume-grace", "-5"], 2, /--resume-grace/],
    [["exec-server", "--no-such-option"], 2, /unknown option '--no-such-option'/],
    [["run", "--", "true"], 2, /unknown command 'run'/],
    [["executor"], 2, /unknown command 'executor'/],
    [["exec", "hi"], 2, /unknown command 'exec'/],
  ])("says what it does not do, or what is wrong: %j", async (words, expected, told) => {
    const { code, stderr } = await run(words);
    expect([code, stderr]).toEqual([expected, expect.stringMatching(told)]);
    expect(stderr).not.toContain("    at ");
  });

  it("serves with every option", async () => {
    const hello = '{"id":1,"method":"initialize","params":{"clientName":"x"}}\n';
    const { code, stdout } = await run(["exec-server", "--listen", "stdio", "--resume-grace", "5"], hello);
    expect([code, stdout.toString()]).toEqual([0, expect.stringContaining('"id":1')]);
  });
});
