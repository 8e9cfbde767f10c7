import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AuditEvent, AuditLog } from "@codex/audit";
import { createLocalOrchestrator, type LocalOrchestratorOptions } from "@codex/local";
import type { ApprovalDecision, ApprovalRequest, Orchestrator } from "@codex/orchestrator";
import { createSandboxSelector } from "@codex/policy";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

const opened: Orchestrator[] = [];
let directory: string;
beforeEach(() => {
  directory = realpathSync(mkdtempSync(join(tmpdir(), "files of ")));
});
afterEach(async () => {
  for (const orchestrator of opened.splice(0)) await orchestrator.close();
  rmSync(directory, { recursive: true, force: true });
});

async function open(options: LocalOrchestratorOptions = {}): Promise<Orchestrator> {
  const policy = { approvalPolicy: "never", sandbox: "danger-full-access" } as const;
  const orchestrator = await createLocalOrchestrator({ policy, ...options });
  opened.push(orchestrator);
  return orchestrator;
}

/** One with this policy and the answer of its approver, and what it asked. */
async function openAsking(approvalPolicy: "untrusted" | "on-request", answer?: ApprovalDecision) {
  const asked: ApprovalRequest[] = [];
  const approver = {
    requestApproval: async (request: ApprovalRequest) => {
      asked.push(request);
      return answer ?? "decline";
    },
  };
  const policy = { approvalPolicy, sandbox: "danger-full-access" } as const;
  return { asked, orchestrator: await open({ policy, ...(answer === undefined ? {} : { approver }) }) };
}

const bytes = (text: string) => new TextEncoder().encode(text);

describe("files of an orchestrator", () => {
  it("are written, read, listed and removed", async () => {
    const { files } = await open();
    const cwd = directory;
    await files.write("deep/er/ä.bin", new Uint8Array([0, 255, 10]), { cwd });
    await files.write(join(directory, "deep/b"), bytes("two"));
    expect([...(await files.read("deep/er/ä.bin", { cwd }))]).toEqual([0, 255, 10]);
    expect(await files.stat("deep", { cwd })).toMatchObject({ kind: "directory" });
    expect(await files.stat("deep/b", { cwd })).toMatchObject({ kind: "file", size: 3 });
    const entries = await files.list("deep", { cwd });
    expect(entries.toSorted((one, other) => one.name.localeCompare(other.name))).toEqual([
      { name: "b", kind: "file" },
      { name: "er", kind: "directory" },
    ]);
    expect(await files.remove("deep/b", { cwd })).toBe(true);
    expect(await files.remove("deep/b", { cwd })).toBe(false);
    await expect(files.remove("deep", { cwd })).rejects.toMatchObject({ code: "file_failed" });
    expect(await files.remove("deep", { cwd, recursive: true })).toBe(true);
    expect(existsSync(join(directory, "deep"))).toBe(false);
  });

  it("that are not there, or are no files, are errors with their path", async () => {
    const { files } = await open();
    const missing = join(directory, "missing");
    expect(await files.stat(missing)).toBe(undefined);
    await expect(files.read(missing)).rejects.toMatchObject({
      code: "not_found",
      message: expect.stringContaining(missing),
    });
    await expect(files.list(missing)).rejects.toMatchObject({ code: "not_found" });
    await expect(files.read(directory)).rejects.toMatchObject({ code: "file_failed" });
    await expect(files.write(directory, bytes("x"))).rejects.toMatchObject({ code: "file_failed" });
    await expect(files.read("x", { environment: "elsewhere" })).rejects.toThrow("elsewhere");
  });

  it("are at most 64 MiB when they are read", async () => {
    const { files } = await open();
    const path = join(directory, "large");
    writeFileSync(path, "");
    (await import("node:fs")).truncateSync(path, 64 * 1024 * 1024 + 1);
    await expect(files.read(path)).rejects.toThrow("67108865 bytes (limit 67108864 bytes)");
  });

  it("are not changed before that is approved, and asked about by path", async () => {
    const { orchestrator, asked } = await openAsking("untrusted", "decline");
    const path = join(directory, "x");
    const writing = orchestrator.files.write(path, bytes("hi"));
    await expect(writing).rejects.toMatchObject({
      code: "refused",
      message: expect.stringContaining("the user declined it"),
    });
    await expect(orchestrator.files.remove(directory, { recursive: true })).rejects.toMatchObject({ code: "refused" });
    expect(asked.map(({ command }) => command.slice(0, 2))).toEqual([
      ["write_file", path],
      ["remove_file", directory],
    ]);
    expect([existsSync(path), existsSync(directory)]).toEqual([false, true]);
    const accept = { requestApproval: async () => "accept" as const };
    await orchestrator.files.write(path, bytes("hi"), { approver: accept });
    expect(readFileSync(path, "utf8")).toBe("hi");
    const nobody = await openAsking("untrusted");
    await expect(nobody.orchestrator.files.write(path, bytes("no"))).rejects.toThrow("there is no approver");
    expect((await nobody.orchestrator.files.read(path)).toString()).toBe("hi");
  });

  it("are held in the sandbox of a command, through symlinks as well", async () => {
    const cwd = join(directory, "work");
    mkdirSync(cwd);
    const outside = join(directory, "outside");
    symlinkSync(outside, join(cwd, "link"));
    writeFileSync(outside, "old");
    const { files: read } = await open({ policy: { approvalPolicy: "never", sandbox: "read-only" } });
    // Without a sandbox on this host it is refused as well.
    await expect(read.write("new", bytes("x"), { cwd })).rejects.toMatchObject({ code: "refused" });
    expect(existsSync(join(cwd, "new"))).toBe(false);
    const settings = { mode: "workspace-write", excludeSlashTmp: true, excludeTmpdirEnvVar: true } as const;
    const sandbox = createSandboxSelector(settings);
    const { files } = await open({ policy: { approvalPolicy: "never", sandbox } });
    await expect(files.write(outside, bytes("new"), { cwd })).rejects.toMatchObject({ code: "refused" });
    await expect(files.write("link", bytes("new"), { cwd })).rejects.toMatchObject({ name: "OrchestratorError" });
    expect(readFileSync(outside, "utf8")).toBe("old");
  });

  it("are in the audit log", async () => {
    const events: AuditEvent[] = [];
    // What an orchestrator needs of a log.
    const log = { record: async (event: AuditEvent) => void events.push(event), flush: async () => {} } as AuditLog;
    const { files } = await open({ audit: { log } });
    await files.write(join(directory, "x"), bytes("hi"));
    await files.read(join(directory, "missing")).catch(() => {});
    const shapes = events.map((event) => [
      event.type,
      "tool" in event ? event.tool : "",
      "status" in event ? event.status : "",
    ]);
    expect(shapes).toEqual([
      ["call", "write_file", ""],
      ["result", "", "success"],
      ["call", "read_file", ""],
      ["result", "", "error"],
    ]);
  });

  it("are not there where the executor serves none", async () => {
    const { files } = await open({ executor: { ceiling: { mode: "workspace-write" } } });
    await expect(files.read("/etc/hostname")).rejects.toMatchObject({
      code: "unsupported",
      message: expect.stringContaining("`local` serves no files"),
    });
  });

  it("end with their orchestrator", async () => {
    const orchestrator = await open();
    await orchestrator.files.list(directory);
    await orchestrator.close();
    await expect(orchestrator.files.list(directory)).rejects.toMatchObject({ name: "OrchestratorError" });
  });
});
