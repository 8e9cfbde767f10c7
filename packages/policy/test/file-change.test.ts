import type { Sandbox } from "@codex/executor-protocol";
import { type ApprovalPolicy, createSandboxSelector, evaluateFileChange } from "@codex/policy";
import { describe, expect, it } from "vitest";

function sandboxOf(
  mode: "read-only" | "workspace-write" | "danger-full-access",
  writableRoots: string[] = [],
): Sandbox | null {
  const chosen = createSandboxSelector({ mode, writableRoots }).select({
    environment: "box",
    host: undefined,
    cwd: "/w",
    workspaceRoots: ["/w"],
    sandboxPermissions: "use_default",
    additionalPermissions: null,
    bypassSandbox: false,
  });
  if (chosen !== null && "refused" in chosen) throw new Error(chosen.refused);
  return chosen;
}

const granular = (sandboxApproval: boolean): ApprovalPolicy => ({ granular: { sandboxApproval, rules: true } });
const WORKSPACE = sandboxOf("workspace-write", ["/more"]);

describe("judging a change of files", () => {
  it.each<[paths: string[], policy: ApprovalPolicy, sandbox: Sandbox | null, kind: string]>([
    [["/w/a", "/w/d/b"], "never", WORKSPACE, "allow"],
    [["/w"], "never", WORKSPACE, "allow"],
    [["/more/a", "/tmp/a"], "never", WORKSPACE, "allow"],
    [["/w/a", "/etc/passwd"], "never", WORKSPACE, "refuse"],
    [["/wx/a"], "never", WORKSPACE, "refuse"],
    [["/w/.git/hooks/pre-commit"], "never", WORKSPACE, "refuse"],
    [["/w/.codex/config.toml"], "on-request", WORKSPACE, "ask"],
    [["/w/d/.git/x"], "never", WORKSPACE, "allow"],
    [["/w/.gitignore"], "never", WORKSPACE, "allow"],
    [["/etc/passwd"], "on-request", WORKSPACE, "ask"],
    [["/etc/passwd"], "on-failure", WORKSPACE, "ask"],
    [["/etc/passwd"], granular(true), WORKSPACE, "ask"],
    [["/etc/passwd"], granular(false), WORKSPACE, "refuse"],
    [["/w/a"], "untrusted", WORKSPACE, "ask"],
    [["/w/a"], "never", sandboxOf("read-only"), "refuse"],
    [["/w/a"], "on-request", sandboxOf("read-only"), "ask"],
    [["/etc/passwd"], "never", sandboxOf("danger-full-access"), "allow"],
    [["/etc/passwd"], "untrusted", sandboxOf("danger-full-access"), "ask"],
  ])("of %j under %j", (paths, approvalPolicy, sandbox, kind) => {
    expect(evaluateFileChange({ paths, approvalPolicy, sandbox }).kind).toBe(kind);
  });

  it("names what is outside, and why nobody is asked", () => {
    const judged = evaluateFileChange({ paths: ["/w/a", "/etc/x"], approvalPolicy: "never", sandbox: WORKSPACE });
    expect(judged).toEqual({
      kind: "refuse",
      reason: "`/etc/x` is outside of the writable roots, and approval policy `never` does not ask",
    });
  });

  it("asks where the host has no sandbox for it", () => {
    const patch = { paths: ["/w/a"], sandbox: WORKSPACE, noSandbox: "no bubblewrap" };
    expect(evaluateFileChange({ ...patch, approvalPolicy: "on-request" })).toEqual({
      kind: "ask",
      reason: "access to its files cannot be sandboxed: no bubblewrap",
    });
    expect(evaluateFileChange({ ...patch, approvalPolicy: "never" }).kind).toBe("refuse");
    expect(evaluateFileChange({ ...patch, approvalPolicy: "never", sandbox: null }).kind).toBe("allow");
  });
});
