import { describe, expect, it } from "vitest";
import { getRefusal } from "../src/requirement.js";
import { execRequest } from "./support/client.js";

const refusal = (part: Partial<Parameters<typeof getRefusal>[0]>) =>
  getRefusal(execRequest({ command: ["true"], ...part }));
const skip = { bypassSandbox: false, proposedExecPolicyAmendment: null };

describe("what an executor runs", () => {
  it.each([
    [{}],
    [{ execApprovalRequirement: { skip: { ...skip, bypassSandbox: true } } }],
    [{ sandboxPermissions: "require_escalated" as const }],
    [{ sandbox: null }],
  ])("runs %j", (part) => {
    expect(refusal(part)).toBeUndefined();
  });

  it.each([
    [{ execApprovalRequirement: { forbidden: { reason: "rule 7" } } }, /forbidden.*not run.*rule 7/],
    [
      { execApprovalRequirement: { needsApproval: { reason: "writes /etc", proposedExecPolicyAmendment: null } } },
      /needs approval.*not run.*writes \/etc/,
    ],
    [
      { execApprovalRequirement: { needsApproval: { reason: null, proposedExecPolicyAmendment: ["ls"] } } },
      /needs approval.*not run/,
    ],
    [{ sandbox: { permissions: { type: "disabled" as const } } }, /sandbox.*cannot apply.*not run/],
    [{ sandboxPermissions: "with_additional_permissions" as const }, /additional permissions.*not run/],
  ])("refuses %j", (part, expected) => {
    expect(refusal(part)).toMatch(expected);
  });
});
