import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { HostSandbox } from "@codex/exec-backend";
import type { ExecCommandRequest, OutsideProfile, Sandbox, SandboxSupport } from "@codex/executor-protocol";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createAdmission } from "../../src/admission/admission.js";
import { ApprovalLedger } from "../../src/admission/approval-ledger.js";
import { type CeilingOptions, createCeilingGuard, resolveLocalPath } from "../../src/admission/ceiling.js";
import { createExecutor } from "../../src/index.js";
import { execRequest } from "../support/client.js";

const BUBBLEWRAP: SandboxSupport = { kind: "bubblewrap" };
const NONE: SandboxSupport = { kind: "none", problem: "user namespaces are off" };

interface Given {
  support?: SandboxSupport;
  ceiling?: CeilingOptions;
}
function admission({ support, ceiling }: Given = {}) {
  return createAdmission({
    backend: support === undefined ? {} : { getSandboxSupport: async () => support },
    ceiling: ceiling === undefined ? undefined : createCeilingGuard(ceiling, []),
    approvals: new ApprovalLedger(2),
  });
}
const refusal = (part: Partial<ExecCommandRequest>, given?: Given) =>
  admission(given).getRefusal(execRequest({ command: ["true"], ...part }));

const skip = { bypassSandbox: false, proposedExecPolicyAmendment: null };
const bypass = { execApprovalRequirement: { skip: { ...skip, bypassSandbox: true } } };
const DISABLED: Sandbox = { permissions: { type: "disabled" } };
const writing = (path: string): Sandbox => ({
  permissions: {
    type: "managed",
    file_system: { type: "restricted", entries: [{ path: { type: "path", path }, access: "write" }] },
    network: "restricted",
  },
});
const HELD = writing("/tmp");

describe("a sandbox that could not be tried for lack of resources", () => {
  it("is not announced as missing, and is used as soon as it can be", async () => {
    let support: HostSandbox = { kind: "none", problem: "too many open files", expected: "bubblewrap" };
    const getSandboxSupport = async () => support;
    const { describe, getRefusal } = createAdmission({
      backend: { getSandboxSupport },
      ceiling: undefined,
      approvals: new ApprovalLedger(2),
    });
    expect(await describe()).toEqual(BUBBLEWRAP);
    const request = execRequest({ command: ["true"], sandbox: HELD });
    expect(await getRefusal(request)).toMatch(/cannot apply: too many open files; .*not run/);
    support = BUBBLEWRAP;
    expect(await getRefusal(request)).toBeUndefined();
  });
});

it("paths of a ceiling are resolved once their mounts answer", async () => {
  const asked: string[] = [];
  const resolved: string[] = [];
  let answer = () => {};
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const resolvePath = async (path: string) => {
    resolved.push(path);
    return path;
  };
  const guard = createCeilingGuard({ mode: "workspace-write", roots: ["/far"] }, [], resolvePath, (paths) => {
    asked.push(...paths);
    return answered;
  });
  const finding = guard.findExcess({ cwd: "/far/work", sandbox: writing("/far/work") });
  await new Promise((resolve) => setImmediate(resolve));
  expect(asked).toEqual(expect.arrayContaining(["/far/work", "/far"]));
  expect(resolved).toEqual([]);
  answer();
  expect(await finding).toBeUndefined();
});

it("what this user may not look up is closed already, and stops no command unless it would be opened", async () => {
  const resolvePath = async (path: string) => {
    if (path.startsWith("/hidden")) throw Object.assign(new Error(`EACCES: ${path}`), { code: "EACCES" });
    return path;
  };
  const guard = createCeilingGuard({ mode: "workspace-write", roots: ["/w"] }, [], resolvePath);
  const ask = (access: "deny" | "read" | "write") => {
    const sandbox = writing("/w");
    if (sandbox.permissions.type !== "managed" || sandbox.permissions.file_system.type !== "restricted")
      throw new Error();
    sandbox.permissions.file_system.entries.push({ path: { type: "path", path: "/hidden/s" }, access });
    return guard.findExcess({ cwd: "/w", sandbox });
  };
  expect([await ask("deny"), await ask("read")]).toEqual([undefined, undefined]);
  expect(await ask("write")).toMatch(/cannot be resolved: EACCES: \/hidden\/s/);
});

describe("what an executor runs", () => {
  it.each<[Partial<ExecCommandRequest>, Given?]>([
    [{}],
    [bypass],
    [{ sandboxPermissions: "require_escalated" }],
    [{ sandbox: null }],
    [{ sandbox: DISABLED }],
    [{ sandbox: DISABLED }, { support: NONE }],
    [{ sandbox: HELD }, { support: BUBBLEWRAP }],
    [{ sandbox: HELD, sandboxPermissions: "with_additional_permissions" }, { support: BUBBLEWRAP }],
    [{ ...bypass, sandboxPermissions: "with_additional_permissions" }],
  ])("runs %j", async (part, given) => {
    expect(await refusal(part, given)).toBeUndefined();
  });

  it.each<[Partial<ExecCommandRequest>, RegExp, Given?]>([
    [{ execApprovalRequirement: { forbidden: { reason: "rule 7" } } }, /forbidden and was not run: rule 7/],
    [
      { execApprovalRequirement: { needsApproval: { reason: "writes /etc", proposedExecPolicyAmendment: null } } },
      /needs approval and was not run: writes \/etc/,
    ],
    [
      { execApprovalRequirement: { needsApproval: { reason: null, proposedExecPolicyAmendment: ["ls"] } } },
      /needs approval.*not run/,
    ],
    [{ sandbox: HELD }, /cannot apply: the host where it runs commands has no sandbox; .*not run/],
    [{ sandbox: HELD }, /cannot apply: user namespaces are off; .*not run/, { support: NONE }],
    [{ sandbox: { permissions: { type: "external", network: "enabled" } } }, /cannot apply/, { support: NONE }],
    [{ sandboxPermissions: "with_additional_permissions" }, /additional permissions.*not run/, { support: BUBBLEWRAP }],
  ])("refuses %j", async (part, expected, given) => {
    expect(await refusal(part, given)).toMatch(expected);
  });
});

describe("an approval", () => {
  const approved = (approvalId: string, part: Partial<ExecCommandRequest> = {}) =>
    execRequest({ command: ["true"], approvalId, ...part });

  it("is for what it was first used for", async () => {
    const { getRefusal } = admission({ support: BUBBLEWRAP });
    expect(await getRefusal(approved("a", { sandbox: HELD }))).toBeUndefined();
    expect(await getRefusal(approved("a", { sandbox: HELD, yieldTimeMs: 5, idempotencyKey: "k" }))).toBeUndefined();
    const changes: Partial<ExecCommandRequest>[] = [
      { command: ["false"], sandbox: HELD },
      { cwd: "/", sandbox: HELD },
      { env: {}, sandbox: HELD },
      { tty: true, sandbox: HELD },
      { stdin: "open", sandbox: HELD },
      { sandbox: null },
      { sandbox: writing("/etc") },
      { sandbox: HELD, sandboxPermissions: "require_escalated" },
    ];
    for (const change of changes) {
      expect(await getRefusal(approved("a", change)), JSON.stringify(change)).toMatch(/given for another request/);
    }
    expect(await getRefusal(approved("b", { command: ["false"] }))).toBeUndefined();
  });

  it("stays bound however many follow: what exceeds the limit is refused", async () => {
    const { getRefusal } = admission();
    for (const id of ["a", "b"]) expect(await getRefusal(approved(id))).toBeUndefined();
    expect(await getRefusal(approved("c"))).toMatch(/has used 2 approvals \(limit 2 approvals\).*not run/);
    expect(await getRefusal(approved("a", { cwd: "/" }))).toMatch(/another request/);
    expect(await getRefusal(approved("a"))).toBeUndefined();
    expect(await getRefusal(execRequest({ command: ["true"] }))).toBeUndefined();
  });
});

describe("a ceiling, on real directories", () => {
  let base: string;
  beforeAll(() => {
    base = realpathSync(mkdtempSync(join(tmpdir(), "ceiling-")));
    for (const name of ["in/deep", "out"]) mkdirSync(join(base, name), { recursive: true });
    symlinkSync(join(base, "out"), join(base, "in", "away"));
    symlinkSync(join(base, "out", "later"), join(base, "in", "dangling"));
    symlinkSync("../../out/later", join(base, "in", "deep", "relative"));
    symlinkSync(join(base, "in"), join(base, "alias"));
    symlinkSync("circle", join(base, "in", "circle"));
    symlinkSync("away/../out", join(base, "in", "around"));
    symlinkSync("/proc/self/cwd", join(base, "in", "own"));
    symlinkSync("/dev/fd/3", join(base, "in", "descriptor"));
  });
  afterAll(() => rmSync(base, { recursive: true, force: true }));

  // `/tmp` may be written under a ceiling, so the outside of these is what the root of the start shows.
  it.each([
    ["in", undefined],
    ["in/deep", undefined],
    ["alias/deep", undefined],
    ["in/not/there", undefined],
    ["out", /started in/],
    ["in/away", /started in/],
    ["in/away/x", /started in/],
    ["in/dangling", /started in/],
    ["in/deep/relative", /started in/],
    ["in/deep/../../out", /started in/],
    ["in/circle", /cannot be resolved/],
    ["in/around", /started in/],
    ["in/own", /cannot be resolved: `\/proc\/self` differs from process to process/],
    ["in/own/x", /differs from process to process/],
    ["in/descriptor", /differs from process to process/],
  ])("a start in %s", async (name, expected) => {
    const found = await refusal({ cwd: `${base}/${name}` }, { ceiling: { roots: [`${base}/alias`] } });
    if (expected === undefined) expect(found).toBeUndefined();
    else expect(found).toMatch(expected);
  });

  it("is shown with its roots as they are, and by itself means no network below full access", async () => {
    const told = (ceiling: CeilingOptions) => admission({ support: BUBBLEWRAP, ceiling }).describe();
    const roots = [`${base}/alias`];
    expect(await told({ mode: "workspace-write", roots })).toEqual({
      kind: "bubblewrap",
      ceiling: { mode: "workspace-write", roots: [`${base}/in`], network: false },
    });
    expect(await told({ roots })).toMatchObject({ ceiling: { mode: "danger-full-access", network: true } });
    expect(await admission({ ceiling: { mode: "read-only" } }).describe()).toMatchObject({ kind: "none" });
    expect(await admission().describe()).toBeUndefined();
  });

  it.each<[Partial<ExecCommandRequest>, RegExp]>([
    [bypass, /a sandbox is needed/],
    [{ sandbox: null }, /a sandbox is needed/],
    [{ sandbox: DISABLED }, /`disabled` are not/],
    [{ sandbox: writing("/etc"), ...bypass }, /writing `\/etc`/],
  ])("refuses %j", async (part, expected) => {
    const ceiling: CeilingOptions = { mode: "workspace-write", roots: [base] };
    const found = await refusal({ cwd: base, ...part }, { support: BUBBLEWRAP, ceiling });
    expect(found).toMatch(/^this executor does not allow it: .*not run$/);
    expect(found).toMatch(expected);
  });

  it.each([
    "/proc/self/cwd",
    "/proc/thread-self/cwd",
    "/proc/self/root/tmp",
    `/proc/${process.pid}/cwd`,
    "/proc/self/task/1/cwd",
    "/dev/fd/3",
    "/proc//self/./cwd",
  ])("refuses %s, which leads elsewhere in the command", async (path) => {
    const expected = /cannot be resolved: `.*` differs from process to process/;
    expect(await refusal({ cwd: path }, { ceiling: { roots: ["/"] } })).toMatch(expected);
    const sandbox = { ...writing(path), cwd: base, workspaceRoots: [base] };
    const ceiling: CeilingOptions = { mode: "workspace-write", roots: [base] };
    expect(await refusal({ cwd: base, sandbox }, { support: BUBBLEWRAP, ceiling })).toMatch(expected);
    const create = () => createExecutor({ backend: () => ({}) as never, ceiling: { roots: [path] } });
    expect(create).toThrow(/ceiling\.roots: `.*` differs from process to process/);
  });

  it("has absolute roots", () => {
    const create = () => createExecutor({ backend: () => ({}) as never, ceiling: { roots: ["work"] } });
    expect(create).toThrow(/ceiling\.roots: `work` is not absolute/);
  });

  it("follows links to what does not exist yet", async () => {
    expect(await resolveLocalPath(`${base}/in/dangling/x`)).toBe(`${base}/out/later/x`);
    expect(await resolveLocalPath("/not/there")).toBe("/not/there");
  });
});

describe("programs that rules start outside of the sandbox", () => {
  const rule = (id: string, profile: OutsideProfile) => ({
    id,
    pattern: [[id]],
    decision: "allow" as const,
    place: { kind: "outside" as const, profile },
  });
  const execGate = {
    rules: [rule("network", "network"), rule("srv", { write: ["/srv"] }), rule("all", "unrestricted")],
    hostExecutables: [],
    approved: [],
  };
  const leaving = async (ceiling?: CeilingOptions) => {
    const request = execRequest({ command: ["true"], sandbox: HELD, execGate });
    const gate = await admission(ceiling === undefined ? {} : { ceiling }).limitGate(request);
    return gate?.rules.filter(({ place }) => place.kind === "outside").map(({ id }) => id);
  };

  it("leave it where there is no ceiling", async () => {
    expect(await leaving()).toEqual(["network", "srv", "all"]);
  });

  it("stay inside where the ceiling does not allow what they would get", async () => {
    expect(await leaving({ mode: "workspace-write", roots: ["/"], network: true })).toEqual(["network", "srv"]);
    expect(await leaving({ mode: "workspace-write", roots: ["/"] })).toEqual(["srv"]);
    expect(await leaving({ mode: "read-only" })).toEqual([]);
  });
});
