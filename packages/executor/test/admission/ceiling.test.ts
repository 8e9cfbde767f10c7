import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import type { ExecCommandRequest, Sandbox } from "@codex/executor-protocol";
import { createLocalBackend } from "@codex/process-host";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { errorOf, execRequest, unwrap } from "../support/client.js";
import { useRealHosts } from "../support/real-host.js";

const probe = createLocalBackend();
const support = (await probe.getSandboxSupport?.()) ?? { kind: "none", problem: "no sandbox is built in" };
await probe.close();

type Entry = { path: string; access: "read" | "write" };
const sandbox = (entries: Entry[], more: Partial<Sandbox> = {}): Sandbox => ({
  permissions: {
    type: "managed",
    file_system: {
      type: "restricted",
      entries: [
        { path: { type: "special", value: { kind: "root" } }, access: "read" },
        ...entries.map(({ path, access }) => ({ path: { type: "path" as const, path }, access })),
      ],
    },
    network: "restricted",
  },
  ...more,
});

describe.skipIf(support.kind === "none")(`a ceiling over real commands (skipped: ${support.problem ?? "not"})`, () => {
  const open = useRealHosts();
  let base: string;
  beforeEach(() => {
    // Not below a temporary directory, which commands may write under a ceiling.
    base = realpathSync(mkdtempSync("/var/tmp/codex-ceiling-"));
    for (const name of ["in", "out"]) mkdirSync(join(base, name));
    symlinkSync(join(base, "out"), join(base, "in", "away"));
  });
  afterEach(() => rmSync(base, { recursive: true, force: true }));

  const skip = (bypassSandbox: boolean) => ({
    execApprovalRequirement: { skip: { bypassSandbox, proposedExecPolicyAmendment: null } },
  });
  const attempts = (): [string, Partial<ExecCommandRequest>][] => {
    const at = (path: string) => sandbox([{ path: `${base}/${path}`, access: "write" }]);
    return [
      ["no sandbox", skip(true)],
      ["a null sandbox", { sandbox: null, ...skip(true) }],
      ["disabled", { sandbox: { permissions: { type: "disabled" } }, ...skip(true) }],
      ["external", { sandbox: { permissions: { type: "external", network: "enabled" } } }],
      ["the whole file system", { sandbox: sandbox([{ path: "/", access: "write" }]) }],
      ["outside", { sandbox: at("out") }],
      ["outside by ..", { sandbox: at("in/../out") }],
      ["outside by a link", { sandbox: at("in/away") }],
      ["escalation", { ...skip(true), sandboxPermissions: "require_escalated", approvalId: "mine" }],
      ["a start outside", { sandbox: at("in"), cwd: join(base, "out") }],
    ];
  };

  it("lets an orchestrator that allows everything do no more than that", async () => {
    const client = open({ ceiling: { mode: "workspace-write", roots: [join(base, "in")] } });
    const target = join(base, "out", "made");
    for (const [name, part] of attempts()) {
      const request = execRequest({ command: ["touch", target], cwd: join(base, "in"), ...part });
      expect(errorOf(await client.call("exec_command", request)), name).toMatch(/does not allow it/);
      expect(existsSync(target), name).toBe(false);
    }
  });

  it("lets commands write in its roots, and nowhere else", async () => {
    const client = open({ ceiling: { mode: "workspace-write", roots: [join(base, "in")] } });
    const held = sandbox([{ path: join(base, "in"), access: "write" }]);
    const run = async (file: string) =>
      unwrap(
        await client.call(
          "exec_command",
          execRequest({ command: ["touch", join(base, file)], cwd: join(base, "in"), sandbox: held }),
        ),
      );
    expect((await run("in/made")).result).toMatchObject({ exitCode: 0 });
    expect((await run("in/away/made")).result).toMatchObject({ exitCode: 1 });
    expect((await run("out/made")).result).toMatchObject({ exitCode: 1 });
    expect([existsSync(join(base, "in", "made")), existsSync(join(base, "out", "made"))]).toEqual([true, false]);
  });

  it("is advertised with what the host can do", async () => {
    const client = open({ ceiling: { mode: "read-only" } });
    const { host } = await client.initialize();
    expect(host.sandbox).toEqual({ ...support, ceiling: { mode: "read-only", roots: [], network: false } });
  });
});
