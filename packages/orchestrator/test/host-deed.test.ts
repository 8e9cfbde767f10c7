import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRuleSaver, loadRulePolicy, RuleBook } from "@codex/policy";
import { expect, it, onTestFinished } from "vitest";
import { proposedRule } from "../src/approvals/rule-to-save.js";
import { evaluateHost, type HostDeed } from "../src/decide/host.js";

const DEED: HostDeed = {
  ...{ environment: "e", host: "a.example", port: 8443, protocol: "connect" },
  ...{ command: ["sh", "-c", "x"], cwd: "/w", sandbox: null },
};

const evaluate = (more: Partial<HostDeed> = {}, rules = new RuleBook(undefined, undefined)) =>
  evaluateHost({ ...DEED, ...more }, { rules }, { newId: () => "id" }).outcome;
const questionOf = (outcome: ReturnType<typeof evaluate>) => {
  if (outcome.kind !== "ask") throw new Error(outcome.kind);
  return outcome.question;
};

it("a decision for the session covers a host and a port, whatever the command", () => {
  const keys = [{}, { host: "b.example" }, { port: 443 }, { environment: "f" }, { command: ["y"], cwd: "/" }].map(
    (more) => questionOf(evaluate(more)).keys,
  );
  expect(new Set(keys.map(String)).size).toBe(4);
});

it("a host can be saved by a rule, which holds at once and after the next start", async () => {
  const directory = mkdtempSync(join(tmpdir(), "codex-hosts-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const file = join(directory, "default.rules");
  const rules = new RuleBook(undefined, createRuleSaver(file));
  const { request } = questionOf(evaluate({}, rules));
  expect(request.availableDecisions).toContain("accept_and_save");
  const proposed = proposedRule(request);
  if (proposed === undefined || !("host" in proposed)) throw new Error("no rule for a host was proposed");
  expect(await rules.saveHost(proposed)).toBeUndefined();
  expect(readFileSync(file, "utf8")).toBe('network_rule(host="a.example", protocol="https", decision="allow")\n');
  expect([evaluate({}, rules).kind, evaluate({ port: 22 }, rules).kind]).toEqual(["allowed", "allowed"]);
  expect(evaluate({ host: "b.example" }, rules).kind).toBe("ask");
  const next = new RuleBook(await loadRulePolicy([{ directory }]), undefined);
  const sandbox = {
    permissions: { type: "managed", network: "enabled", file_system: { type: "unrestricted" } },
  } as const;
  expect(next.limitNetwork(sandbox, {})).toMatchObject({
    network: { policy: { rules: [{ pattern: "a.example", decision: "allow", source: `${file}:1` }] } },
  });
});

it.each([
  ["without a place for rules", {}, false],
  ["that is the loopback of the executor's host, which needs a port", { host: "host.internal" }, true],
])("no rule is offered for a host %s", (_what, more, hasPlace) => {
  const rules = new RuleBook(undefined, hasPlace ? async () => ({ file: "f", line: 1 }) : undefined);
  const { request } = questionOf(evaluate(more, rules));
  expect(request.availableDecisions).not.toContain("accept_and_save");
  expect(proposedRule(request)).toBeUndefined();
});
