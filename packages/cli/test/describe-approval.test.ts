import type { ApprovalRequest } from "@codex/orchestrator";
import { expect, it } from "vitest";
import { describeRequest } from "../src/describe-approval.js";

const REQUEST: ApprovalRequest = {
  id: "1",
  toolName: "exec_command",
  environment: "main",
  command: ["/bin/bash", "-lc", "make all"],
  plainCommands: [["make", "all"]],
  cwd: "/srv/a",
  tty: false,
  reason: "because",
  cause: { kind: "policy" },
  justification: null,
  sandboxPermissions: "use_default",
  additionalPermissions: null,
  sandbox: null,
  afterDenial: null,
  proposedAmendment: null,
  availableDecisions: ["accept", "decline"],
};
const describe = (part: Partial<ApprovalRequest>) =>
  describeRequest({ ...REQUEST, ...part }, "/h/rules", (text) => `<${text}>`);

it("shows what runs, where, why, and in which sandbox", () => {
  expect(describe({})).toBe(
    [
      "",
      "  command      </bin/bash -lc 'make all'>",
      "  directory    /srv/a",
      "  environment  main",
      "  sandbox      none: it may write everywhere and use the network",
      "  reason       because",
      "",
    ].join("\n"),
  );
});

it("shows each extra permission", () => {
  const file_system = { read: ["/etc/x"], write: ["/opt/\u001by"] };
  const shown = describe({ additionalPermissions: { file_system, network: { enabled: true } } });
  expect(shown).toContain(
    "  asks for     reading /etc/x\n  asks for     writing /opt/\\u001by\n  asks for     the network\n",
  );
});

it.each([
  [true, 1, "in its sandbox, in part, until the sandbox refused something (exit code 1)"],
  [false, undefined, "in its sandbox, in part, and failed, perhaps because of the sandbox"],
])("shows that it ran already: certain %s, exit code %s", (certain, exitCode, expected) => {
  const shown = describe({ afterDenial: { certain, reason: "x", exitCode } });
  expect(shown).toContain(`  already ran  ${expected}; what it did is done, and would be done again\n`);
});

it("shows the rule only where it can be saved", () => {
  const part = { proposedAmendment: ["make"] };
  expect(describe(part)).not.toContain("rule to save");
  const shown = describe({ ...part, availableDecisions: ["accept_and_save"] });
  expect(shown).toContain('  rule to save prefix_rule(pattern=["make"], decision="allow")\n  saved to     /h/rules\n');
});
