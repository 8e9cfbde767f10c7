import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ExecServerClient } from "@codex/exec-server-client";
import { type AttachedExecutor, connectStdio, createOrchestrator } from "@codex/orchestrator";
import { expect, it } from "vitest";
import { codex } from "./support.js";

async function withExecutor(args: readonly string[], use: (attached: AttachedExecutor) => Promise<void>) {
  await using orchestrator = createOrchestrator({ policy: { approvalPolicy: "never" } });
  const channel = connectStdio({ command: process.execPath, args: [codex, "executor", ...args] });
  await use(await orchestrator.attach({ name: "files", channel }));
}

it("codex executor serves files, in a sandbox as well, and tells of its host", async () => {
  const directory = mkdtempSync(join(tmpdir(), "codex files "));
  try {
    await withExecutor([], async (attached) => {
      await using client = await ExecServerClient.connectInProcess(await attached.openExecServer());
      const path = join(directory, "file");
      await client.fileSystem.writeFile(path, Buffer.from("from afar"));
      expect(readFileSync(path, "utf8")).toBe("from afar");
      expect((await client.fileSystem.readFile(path)).toString()).toBe("from afar");
      const info = await client.environment.info();
      expect(info.shell.path).toBe(attached.host?.shell.path);
    });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});

it.each([
  [["--no-files"], /it has no exec-server/],
  [["--max-sandbox", "read-only"], /a ceiling/],
  [["--allowed-root", "/"], /a ceiling/],
])("codex executor %j offers tools only", async (args, problem) => {
  await withExecutor(args, async (attached) => {
    expect(attached.servesFiles).toBe(false);
    await expect(attached.openExecServer()).rejects.toMatchObject({
      code: "unsupported",
      message: expect.stringMatching(problem),
    });
  });
});
