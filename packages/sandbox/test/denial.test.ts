import { describe, expect, it } from "vitest";
import { type EndedCommand, findDenial } from "../src/find-denial.js";
import { createHostFiles } from "../src/profile/host-files.js";
import type { SandboxProfile } from "../src/profile/profile.js";
import { entry, NO_BUBBLEWRAP, READ_ALL, restrict, useSandbox } from "./support.js";

const PROFILE: SandboxProfile = {
  fileSystem: {
    entries: [
      { path: "/", access: "read", kind: "directory" },
      { path: "/tmp", access: "write", kind: "directory" },
      { path: "/tmp/.git", access: "read", kind: "directory", missing: true },
      { path: "/usr/share", access: "deny", kind: "directory" },
    ],
    minimal: false,
  },
  network: "restricted",
};
/** A host that allows everything. */
const ALLOWED = { canRead: () => true, canWrite: () => true };
const FORBIDDEN = { canRead: () => false, canWrite: () => false };

const find = (ended: Partial<EndedCommand>, host = ALLOWED) =>
  findDenial({ exitCode: 1, output: "", cwd: "/tmp", ...ended }, PROFILE, createHostFiles(), host);

describe("what a sandbox refused", () => {
  it.each<[string, Partial<EndedCommand>]>([
    ["`/etc/x`", { output: "touch: cannot touch '/etc/x': Read-only file system\n" }],
    ["`/etc/x`", { output: "sh: 1: cannot create x: Read-only file system\r\n", cwd: "/etc" }],
    ["`/etc/new/file`", { output: "Error: EROFS: read-only file system, open '/etc/new/file'" }],
    ["`/usr/share/a`", { output: "cat: /usr/share/a: Permission denied" }],
    ["`/tmp/.git`", { output: "mkdir: cannot create directory '.git': File exists" }],
    ["did not start", { exitCode: undefined, output: "bwrap: execvp x: No such file or directory\n" }],
    ["execvp x", { exitCode: undefined, output: "bwrap: execvp x: No such file or directory\n" }],
    ["system call", { exitCode: 159 }],
  ])("is certain: %s", (text, ended) => {
    expect(find(ended)).toMatchObject({ certain: true, reason: expect.stringContaining(text) });
  });

  it.each<[string, Partial<EndedCommand>]>([
    ["Permission denied", { output: "cat: /root/x: Permission denied" }],
    ["Read-only file system", { output: "Read-only file system" }],
    ["Operation not permitted", { output: "PermissionError: [Errno 1] Operation not permitted" }],
    ["Could not resolve host", { output: "curl: (6) Could not resolve host: example.com", exitCode: 6 }],
  ])("is a guess: %s", (text, ended) => {
    expect(find(ended)).toMatchObject({ certain: false, reason: expect.stringContaining(text) });
  });

  it.each<[string, Partial<EndedCommand>]>([
    ["a success", { exitCode: 0, output: "Read-only file system" }],
    ["a failure of its own", { output: "the sandbox of my test failed" }],
    ["a program that is not there", { exitCode: 127, output: "bash: x: Permission denied" }],
    ["what is there already", { output: "mkdir: cannot create directory '/tmp/other': File exists" }],
  ])("is nothing for %s", (_name, ended) => {
    expect(find(ended)).toBeUndefined();
  });

  it("is no more than a guess where the host refuses it as well", () => {
    const output = "touch: cannot touch '/etc/x': Read-only file system";
    expect(find({ output }, FORBIDDEN)).toMatchObject({ certain: false });
  });
});

describe.skipIf(NO_BUBBLEWRAP !== undefined)(`of a process (${NO_BUBBLEWRAP ?? "bubblewrap"})`, () => {
  const sandbox = useSandbox();

  it("is reported with its exit", async () => {
    const process = await sandbox.start(["bash", "-c", "echo x > /usr/codex-test"], {
      sandbox: restrict([READ_ALL, entry(sandbox.base, "write")]),
    });
    await process.exited;
    expect(process.denial).toMatchObject({ certain: process.pid === undefined ? false : expect.any(Boolean) });
    expect(process.denial?.reason).toContain("Read-only file system");
  });

  it("is nothing where nothing failed", async () => {
    const { process } = await sandbox.script("echo Read-only file system");
    expect(process.denial).toBeUndefined();
  });
});
