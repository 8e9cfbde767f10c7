import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { codexSandbox } from "@codex/ai-sdk/sandbox";
import { parseRulePolicy } from "@codex/policy";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openOrchestrator } from "./support/stacks.js";

let cwd: string;
beforeEach(() => {
  cwd = realpathSync(mkdtempSync(join(tmpdir(), "ai sandbox ")));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

const read = (stream: ReadableStream<Uint8Array>) => new Response(stream).text();

describe("a sandbox of the AI SDK", () => {
  it("runs commands, and gives a signal as a code and in words", async () => {
    const sandbox = codexSandbox(await openOrchestrator(), { environment: "local", cwd });
    const run = (command: string, more = {}) => sandbox.run({ command, ...more });
    expect(await run("pwd; echo err >&2; exit 3")).toEqual({ exitCode: 3, stdout: `${cwd}\n`, stderr: "err\n" });
    expect(await run("echo $A; pwd", { env: { A: "b" }, workingDirectory: "/" })).toMatchObject({ stdout: "b\n/\n" });
    expect(await run("kill -9 $$")).toEqual({ exitCode: 137, stdout: "", stderr: "[ended by SIGKILL]\n" });
    const large = await run("head -c 10485770 /dev/zero");
    expect(large.stdout.endsWith("\n[10 bytes left out]\n")).toBe(true);
  });

  it("rejects where nothing runs, and where the end is unknown", async () => {
    const rules = parseRulePolicy([{ file: "r", text: 'prefix_rule(pattern=["touch"], decision="forbidden")' }]);
    const policy = { approvalPolicy: "never", sandbox: "danger-full-access", rules } as const;
    const orchestrator = await openOrchestrator({ policy });
    const sandbox = codexSandbox(orchestrator, { cwd });
    await expect(sandbox.run({ command: "touch x" })).rejects.toThrow("forbidden");
    await expect(sandbox.run({ command: "true", workingDirectory: "/no/such" })).rejects.toThrow("/no/such");
    const process = await sandbox.spawn({ command: "sleep 1000" });
    const waiting = expect(process.wait()).rejects.toThrow();
    await orchestrator.detach("local");
    await waiting;
  });

  it("spawns processes with streams", async () => {
    const sandbox = codexSandbox(await openOrchestrator(), { cwd });
    const process = await sandbox.spawn({ command: "cat; echo end >&2", stdin: true });
    const writer = process.stdin.getWriter();
    await writer.write(new TextEncoder().encode("hello"));
    await writer.close();
    expect(await Promise.all([read(process.stdout), read(process.stderr)])).toEqual(["hello", "end\n"]);
    expect(await process.wait()).toEqual({ exitCode: 0 });
    await process.kill();
    const other = await sandbox.spawn({ command: "exec sleep 1000" });
    expect("stdin" in other).toBe(false);
    await other.kill();
    expect(await other.wait()).toEqual({ exitCode: 137 });
  });

  it("has files", async () => {
    const sandbox = codexSandbox(await openOrchestrator(), { cwd });
    await sandbox.writeTextFile({ path: "a/b", content: "one\ntwo\nthree" });
    await sandbox.writeFile({ path: "a/c", content: new Blob(["stream"]).stream() });
    expect(await sandbox.readTextFile({ path: "a/b", startLine: 2, endLine: 9 })).toBe("two\nthree");
    expect(await read((await sandbox.readFile({ path: "a/c" }))!)).toBe("stream");
    expect(await sandbox.stat({ path: "a/b" })).toEqual({ type: "file", size: 13 });
    const entries = await sandbox.listDirectory({ path: "a" });
    expect(entries?.map(({ name, type }) => `${name} ${type}`).sort()).toEqual(["b file", "c file"]);
    expect([await sandbox.deleteFile({ path: "a/b" }), await sandbox.deleteFile({ path: "a/b" })]).toEqual([
      true,
      false,
    ]);
    const missing = { path: "missing" };
    const none = [
      sandbox.readFile(missing),
      sandbox.readTextFile(missing),
      sandbox.stat(missing),
      sandbox.listDirectory(missing),
    ];
    expect(await Promise.all(none)).toEqual([null, null, null, null]);
  });
});
