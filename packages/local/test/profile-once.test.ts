// A model asks for another permission profile for one command: what it is offered, and what is asked.
import { createLocalOrchestrator } from "@codex/local";
import type { ApprovalRequest, Orchestrator } from "@codex/orchestrator";
import { createSandboxSelector, type PolicyOptions, parseRulePolicy } from "@codex/policy";
import { createCommandSandbox } from "@codex/sandbox";
import { describe, expect, it, onTestFinished } from "vitest";

const { kind } = await createCommandSandbox().getSupport();
const profiles = new Map([["wide", { sandbox: createSandboxSelector({ mode: "workspace-write" }) }]]);

async function open(policy: Partial<PolicyOptions>) {
  const asked: ApprovalRequest[] = [];
  const orchestrator = await createLocalOrchestrator({
    policy: { approvalPolicy: "on-request", sandbox: "read-only", profiles, ...policy },
    approver: {
      requestApproval: async (request) => {
        asked.push(request);
        return "decline";
      },
    },
  });
  onTestFinished(() => orchestrator.close());
  return { orchestrator, asked };
}

const offered = (orchestrator: Orchestrator): unknown => {
  const { inputSchema } = orchestrator.listTools().find(({ name }) => name === "exec_command")!;
  return (inputSchema.properties as Record<string, { enum?: unknown }>).permission_profile?.enum;
};
const ask = (orchestrator: Orchestrator, more: object = {}) =>
  orchestrator.callTool("exec_command", { cmd: "true", login: false, permission_profile: "wide", ...more });

describe("a permission profile that a model asks for", () => {
  it("is offered by name where the policy has profiles and asks", async () => {
    expect(offered((await open({})).orchestrator)).toEqual(["wide"]);
    expect(offered((await open({ profiles: new Map() })).orchestrator)).toBeUndefined();
    expect(offered((await open({ approvalPolicy: "never" })).orchestrator)).toBeUndefined();
    const granular = { granular: { sandboxApproval: false, rules: true } };
    expect(offered((await open({ approvalPolicy: granular })).orchestrator)).toBeUndefined();
  });

  it.skipIf(kind === "none")("is asked about even for a command that needs no approval otherwise", async () => {
    const { orchestrator, asked } = await open({});
    expect((await ask(orchestrator)).status).toBe("denied");
    expect(asked).toMatchObject([
      {
        permissionProfile: "wide",
        cause: { kind: "profile" },
        proposedAmendment: null,
        availableDecisions: ["accept", "decline", "cancel"],
      },
    ]);
  });

  it.skipIf(kind === "none")(
    "is named beside another reason to ask, and changes nothing where a rule forbids",
    async () => {
      const rules = parseRulePolicy([
        {
          file: "a.rules",
          text: 'prefix_rule(["true"], decision="prompt")\nprefix_rule(["false"], decision="forbidden")',
        },
      ]);
      const { orchestrator, asked } = await open({ rules });
      await ask(orchestrator);
      expect(asked[0]?.reason).toMatch(/a\.rules.*; it asks for permission profile `wide`, for this command alone$/);
      expect((await ask(orchestrator, { cmd: "false" })).text).toMatch(/forbid/i);
      expect(asked).toHaveLength(1);
    },
  );

  it("is refused under a policy that never asks, and with other permissions", async () => {
    const { orchestrator, asked } = await open({ approvalPolicy: "never" });
    expect((await ask(orchestrator)).text).toMatch(/approval policy `never` lets no command run in another permission/);
    const other = await open({});
    const both = await ask(other.orchestrator, { sandbox_permissions: "require_escalated" });
    expect(both.text).toMatch(/permission_profile.*not allowed with sandbox_permissions/);
    expect([asked, other.asked]).toEqual([[], []]);
  });

  it.skipIf(kind === "none")("needs no approval where there is no sandbox otherwise, and holds", async () => {
    const { orchestrator, asked } = await open({ sandbox: "danger-full-access" });
    const result = await ask(orchestrator, { cmd: "touch /var/tmp/codex-profile-once-outside" });
    expect(result.text).toMatch(/Read-only file system|not permitted/);
    expect(asked).toEqual([]);
  });
});
