// What a permission profile or an administrator denies stays denied to what leaves its sandbox.
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
import { join } from "node:path";
import { createLocalOrchestrator } from "@codex/local";
import type { ApprovalRequest } from "@codex/orchestrator";
import { createSandboxSelector, parseRulePolicy, type SandboxSettings } from "@codex/policy";
import { createCommandSandbox } from "@codex/sandbox";
import { describe, expect, it, onTestFinished } from "vitest";

const { kind } = await createCommandSandbox().getSupport();
const isGated = process.platform === "linux" && kind === "bubblewrap";

/** Directories `work` and `other`, which has the denied file `s`. Every question is answered with yes. */
async function open(
  settings: (root: string) => Partial<SandboxSettings>,
  rules: string | ((root: string) => string) = "",
  directory = "work",
) {
  const root = mkdtempSync(join(realpathSync("/var/tmp"), "codex-denials-"));
  const cwd = join(root, directory);
  for (const name of ["work", "other/in"]) mkdirSync(join(root, name), { recursive: true });
  writeFileSync(join(root, "other/s"), "SECRET");
  writeFileSync(join(root, "other/in/s"), "SECRET");
  symlinkSync("../other/s", join(root, "work/link"));
  const asked: ApprovalRequest[] = [];
  const orchestrator = await createLocalOrchestrator({
    policy: {
      approvalPolicy: "on-request",
      sandbox: createSandboxSelector({ mode: "workspace-write", ...settings(root) }),
      rules: parseRulePolicy([{ file: "default.rules", text: typeof rules === "string" ? rules : rules(root) }]),
    },
    defaults: { allowAdditionalPermissions: true },
    approver: {
      requestApproval: async (request) => {
        asked.push(request);
        return "accept";
      },
    },
  });
  onTestFinished(async () => {
    await orchestrator.close();
    rmSync(root, { recursive: true });
  });
  const call = (name: string, args: object) => orchestrator.callTool(name, args, { cwd });
  const run = async (cmd: string, more: object = {}) => {
    const args = { cmd, login: false, shell: "/bin/bash", ...more };
    const result = await orchestrator.callTool("exec_command", args, { cwd });
    const { text, isError } = result;
    if (isError) return { text, isError };
    return { text, isError, output: result.output, exitCode: result.structured?.exitCode };
  };
  return { root, asked, call, run };
}

const required = (root: string) => ({ requiredDenyRead: [`${root}/other/s`] });
const profile = (root: string) => ({
  profile: {
    name: "dev",
    base: "workspace" as const,
    entries: [
      { place: { path: `${root}/other/s` }, access: "deny" as const },
      { place: "workspace_roots" as const, subpath: "docs", access: "deny" as const },
    ],
  },
});
const ALLOWED = 'prefix_rule(pattern=["dd"], decision="allow")\n';
const ESCALATED = { sandbox_permissions: "require_escalated", justification: "try" };

describe.runIf(kind !== "none").each([
  ["an administrator", required],
  ["a permission profile", profile],
] as const)("what %s denies", (_, settings) => {
  it("is not read by a command that a rule lets out, which does everything else", async () => {
    const { root, run, asked } = await open(settings, ALLOWED);
    for (const file of [join(root, "other/s"), "link"]) {
      const { output, exitCode } = await run(`dd if=${file}`);
      expect(output).not.toContain("SECRET");
      expect(exitCode).not.toBe(0);
    }
    expect((await run(`dd if=/dev/null of=${root}/other/new`)).exitCode).toBe(0);
    expect(existsSync(join(root, "other/new"))).toBe(true);
    expect(asked).toEqual([]);
  });

  it("is not read by a command that a person lets out, who sees that", async () => {
    const { root, run, asked } = await open(settings);
    const { output, exitCode } = await run(`cat ${root}/other/s; echo yes >${root}/other/new`, ESCALATED);
    expect([output?.includes("SECRET"), exitCode]).toEqual([false, 0]);
    expect(readFileSync(join(root, "other/new"), "utf8")).toBe("yes\n");
    expect(JSON.stringify(asked[0]?.sandbox)).toContain(`${root}/other/s`);
  });

  it("is not opened by extra permissions", async () => {
    const { root, run, asked } = await open(settings);
    const permissions = { file_system: { read: [`${root}/other/s`] } };
    const { text, isError } = await run("true", {
      sandbox_permissions: "with_additional_permissions",
      additional_permissions: permissions,
      justification: "try",
    });
    expect([text, isError, asked]).toEqual([text, true, []]);
    expect(text).toMatch(/other\/s` would be open, and is denied by /);
  });

  it("is not written by a patch that was approved", async () => {
    const { root, call } = await open(settings);
    const patch = (path: string) => `*** Begin Patch\n*** Update File: ${path}\n@@\n-SECRET\n+changed\n*** End Patch\n`;
    const { isError } = await call("apply_patch", { input: patch(`${root}/other/s`) });
    expect(isError).toBe(true);
    expect(readFileSync(join(root, "other/s"), "utf8")).toBe("SECRET");
  });

  it.runIf(isGated)("is not read by a program of a script that a rule lets out", async () => {
    const { root, run } = await open(settings, ALLOWED);
    const { output } = await run(`x=dd; "$x" if=${root}/other/s; echo end`);
    expect(output).toContain("end");
    expect(output).not.toContain("SECRET");
  });
});

describe.runIf(kind !== "none")("what an administrator denies is not opened by", () => {
  const all = (root: string) => ({ requiredDenyRead: [`${root}/other`] });
  it.each([
    ["a writable directory in it", (root: string) => ({ ...all(root), writableRoots: [`${root}/other/in`] }), "work"],
    ["the directory of the turn", all, "other"],
    ["the directory of the turn in it", all, "other/in"],
    [
      "the directory of the turn that a pattern matches",
      (root: string) => ({ requiredDenyRead: [`${root}/*r/**`] }),
      "other/in",
    ],
    [
      "a permission profile",
      (root: string) => ({
        ...all(root),
        profile: {
          name: "dev",
          base: "workspace" as const,
          entries: [{ place: { path: `${root}/other/in` }, access: "read" as const }],
        },
      }),
      "work",
    ],
  ])("%s, which is refused", async (_, settings, directory) => {
    const { run, root } = await open(settings, "", directory);
    const { isError, text } = await run(`cat ${root}/other/in/s`);
    expect(isError).toBe(true);
    expect(text).toMatch(/other(\/in)?` would be open, and is denied by `.*` of who administers this host/);
  });
});

it.runIf(isGated)("what an administrator denies is not opened by a rule that lets a program write in it", async () => {
  const { root, run } = await open(
    (root) => ({ requiredDenyRead: [`${root}/other`] }),
    (root) => `prefix_rule(pattern=["tee"], decision="allow", outside={"write": ["${root}/other/in"]})\n`,
  );
  const { output } = await run(`x=tee; echo changed | "$x" ${root}/other/in/s; echo end`);
  expect(output).toContain("end");
  expect(readFileSync(join(root, "other/in/s"), "utf8")).toBe("SECRET");
});

it.runIf(kind !== "none")("what an administrator denies is not read with full access", async () => {
  const { root, run } = await open((root) => ({ mode: "danger-full-access", ...required(root) }));
  const { output } = await run(`cat ${root}/other/s; echo yes >${root}/other/new; echo end`);
  expect(output).toContain("end");
  expect(output).not.toContain("SECRET");
  expect(existsSync(join(root, "other/new"))).toBe(true);
});

it.runIf(kind !== "none")("what a profile opens in what it denies is open to what leaves its sandbox", async () => {
  const { root, run } = await open((root) => ({
    profile: {
      name: "dev",
      base: "workspace",
      entries: [
        { place: { path: `${root}/other` }, access: "deny" },
        { place: { path: `${root}/other/s` }, access: "read" },
      ],
    },
  }));
  const { output } = await run(`cat ${root}/other/s; touch ${root}/other/new`, ESCALATED);
  expect(output).toContain("SECRET");
  expect(existsSync(join(root, "other/new"))).toBe(false);
});
