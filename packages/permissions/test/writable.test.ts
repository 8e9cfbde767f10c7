import type { Sandbox } from "@codex/executor-protocol";
import { describe, expect, it } from "vitest";
import { findUnwritable, type SandboxEntry } from "../src/index.js";

const at = (path: string, access: SandboxEntry["access"]): SandboxEntry => ({ path: { type: "path", path }, access });

const managed = (entries: readonly SandboxEntry[]): Sandbox => ({
  permissions: { type: "managed", file_system: { type: "restricted", entries: [...entries] }, network: "restricted" },
  cwd: "/w",
  workspaceRoots: ["/w"],
});

const ENTRIES: readonly SandboxEntry[] = [
  { path: { type: "special", value: { kind: "root" } }, access: "read" },
  { path: { type: "special", value: { kind: "project_roots" } }, access: "write" },
  { path: { type: "special", value: { kind: "project_roots", subpath: ".git" } }, access: "read" },
  { path: { type: "special", value: { kind: "tmpdir" } }, access: "write" },
  at("/w/secret", "deny"),
  at("/w/secret/open", "write"),
  at("/both", "write"),
  at("/both", "read"),
];

describe("findUnwritable", () => {
  it.each([
    ["/w", true],
    ["/w/a/b", true],
    ["/wx", false],
    ["/", false],
    ["/w/.git", false],
    ["/w/.git/config", false],
    ["/w/.gitignore", true],
    ["/w/secret/x", false],
    ["/w/secret/open/x", true],
    ["/both/x", false],
    ["/t/x", true],
  ])("%s", (path, isWritable) => {
    const found = findUnwritable([path], managed(ENTRIES), { temporaryDirectories: ["/t"] });
    expect(found).toBe(isWritable ? undefined : path);
  });

  it("lets everything be written where nothing is restricted", () => {
    const open: (Sandbox | null)[] = [
      null,
      { permissions: { type: "disabled" } },
      { permissions: { type: "managed", file_system: { type: "unrestricted" }, network: "restricted" } },
    ];
    for (const sandbox of open) expect(findUnwritable(["/etc/passwd"], sandbox)).toBeUndefined();
  });

  it("names the first of several", () => {
    expect(findUnwritable(["/w/a", "/x", "/y"], managed(ENTRIES))).toBe("/x");
  });
});
