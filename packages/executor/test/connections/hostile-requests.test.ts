import { parseExecCommandRequest } from "@codex/executor-protocol";
import { describe, expect, it } from "vitest";
import { createAdmission } from "../../src/admission/admission.js";
import { ApprovalLedger } from "../../src/admission/approval-ledger.js";
import { createCeilingGuard } from "../../src/admission/ceiling.js";
import { execRequest } from "../support/client.js";

const SKIP = '{"skip":{"bypassSandbox":false,"proposedExecPolicyAmendment":null}}';
const BASE = execRequest({ command: ["true"], cwd: "/srv" });
/** As it comes over the wire: members are appended, so a second one of the same name wins. */
const parse = (members: string) =>
  parseExecCommandRequest(JSON.parse(`${JSON.stringify(BASE).slice(0, -1)},${members}}`));

describe("a request that is not what it says", () => {
  it.each([
    ["two requirements", `"execApprovalRequirement":{${SKIP.slice(1, -1)},"forbidden":{"reason":"x"}}`],
    ["a requirement of its prototype", `"execApprovalRequirement":{"__proto__":${SKIP}}`],
    ["a requirement and a prototype", `"execApprovalRequirement":{"__proto__":{"forbidden":{"reason":"x"}},"x":1}`],
    ["a requirement of another type", '"execApprovalRequirement":"skip"'],
    ["a requirement of nobody", '"execApprovalRequirement":{}'],
    ["a bypass that is a text", `"execApprovalRequirement":${SKIP.replace("false", '"false"')}`],
    ["a sandbox without permissions", '"sandbox":{}'],
    ["a sandbox of another type", '"sandbox":{"permissions":{"type":"none"}}'],
    ["a sandbox by its prototype", '"sandbox":{"__proto__":{"permissions":{"type":"disabled"}}}'],
    ["a sandbox that is false", '"sandbox":false'],
    ["a sandbox that is empty", '"sandbox":[]'],
    [
      "another access",
      '"sandbox":{"permissions":{"type":"managed","network":"restricted","file_system":{"type":"restricted","entries":[{"path":{"type":"path","path":"/"},"access":"Write"}]}}}',
    ],
    [
      "another network",
      '"sandbox":{"permissions":{"type":"managed","network":"","file_system":{"type":"unrestricted"}}}',
    ],
    ["a command of numbers", '"command":[1]'],
    ["no command", '"command":[]'],
    ["a command that is a text", '"command":"true"'],
    ["time that runs backwards", '"timeoutMs":-1'],
    ["no time", '"timeoutMs":0'],
    ["a window that is negative", '"yieldTimeMs":-1'],
    ["variables that are no texts", '"env":{"A":1}'],
    ["another permission", '"sandboxPermissions":"USE_DEFAULT"'],
  ])("is refused: %s", (_what, members) => {
    expect(parse(members).kind).toBe("invalid");
  });

  it("keeps a variable called `__proto__` a variable, and members that nobody knows out", () => {
    const parsed = parse('"env":{"__proto__":"x","constructor":"y"},"bypass":true,"execApprovalRequirementX":1');
    expect(parsed.kind).toBe("ok");
    const { value } = parsed as Extract<typeof parsed, { kind: "ok" }>;
    expect(Object.keys(value)).not.toContain("bypass");
    expect(Object.getPrototypeOf(value.env)).toBe(Object.prototype);
    expect(({} as Record<string, unknown>).x).toBeUndefined();
  });
});

describe("approvals at the same time", () => {
  it("of one id let one request through, whatever the order", async () => {
    const { getRefusal } = createAdmission({
      backend: { getSandboxSupport: async () => ({ kind: "bubblewrap" }) },
      ceiling: createCeilingGuard({ roots: ["/"] }, []),
      approvals: new ApprovalLedger(8),
    });
    const requests = ["true", "false", "rm"].map((name) => execRequest({ command: [name], approvalId: "a", cwd: "/" }));
    const answers = await Promise.all([...requests, ...requests].map((request) => getRefusal(request)));
    expect(new Set(answers.slice(0, 3).map((answer) => answer === undefined)).size).toBe(2);
    const passed = [...requests, ...requests].filter((_request, at) => answers[at] === undefined);
    expect(new Set(passed.map(({ command }) => command.join(" "))).size).toBe(1);
  });

  it("tell texts apart that only look or fold alike", async () => {
    const { getRefusal } = createAdmission({ backend: {}, ceiling: undefined, approvals: new ApprovalLedger(8) });
    const ask = (command: string[], cwd = "/srv") => getRefusal(execRequest({ command, cwd, approvalId: "a" }));
    expect(await ask(["rm", "caf\u00e9"])).toBeUndefined();
    for (const [command, cwd] of [
      [["rm", "cafe\u0301"]],
      [["rm caf\u00e9"]],
      [["rm", "caf\u00e9", ""]],
      [["RM", "caf\u00e9"]],
      [["rm", "caf\u00e9"], "/srv/"],
      [["rm", "caf\u00e9"], "/Srv"],
    ] as [string[], string?][]) {
      expect(await ask(command, cwd), JSON.stringify(command)).toMatch(/another request/);
    }
    expect(await ask(["rm", "caf\u00e9"])).toBeUndefined();
  });
});
