import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ApprovalAnswer, ApprovalRequest } from "@codex/orchestrator";
import { createRuleSaver, loadRulePolicy, type PolicyOptions, parseRulePolicy, type SaveRule } from "@codex/policy";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { scriptedChannel } from "../support/executors.js";
import { attached } from "../support/orchestrators.js";

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "codex-rules-"));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

const rules = (text: string) => parseRulePolicy([{ file: "team.rules", text }]);

async function judged(policy: PolicyOptions, ...answers: ApprovalAnswer[]) {
  const asked: ApprovalRequest[] = [];
  const approver = {
    async requestApproval(request: ApprovalRequest): Promise<ApprovalAnswer> {
      asked.push(request);
      return answers.shift() ?? "decline";
    },
  };
  const { channel, executor } = scriptedChannel();
  const { orchestrator } = await attached(channel, { policy, approver });
  const run = (cmd: string, more: object = {}) => orchestrator.callTool("exec_command", { cmd, ...more });
  const sent = () => executor.received.flatMap((message) => (message.type === "call_tool" ? [message.arguments] : []));
  return { run, asked, sent };
}

describe("rules of the orchestrator", () => {
  it("name themselves, their place and their reason in refusals and questions", async () => {
    const text = `prefix_rule(pattern=["say", "no"], decision="forbidden", justification="say yes")
prefix_rule(pattern=["say", "well"], decision="prompt", justification="think first")`;
    const { run, asked } = await judged({ approvalPolicy: "on-request", rules: rules(text) });
    const refused = await run("cd src && say no more");
    expect(refused).toMatchObject({ status: "forbidden", isError: true });
    expect(refused.text).toMatch(/rule \["say", "no"\] \(team\.rules:1\) forbids this command: say yes/);
    await run("say well");
    expect(asked).toMatchObject([
      {
        reason: 'rule ["say", "well"] (team.rules:2) asks before this command: think first',
        cause: { kind: "rule", rule: '["say", "well"] (team.rules:2)' },
        proposedAmendment: null,
        availableDecisions: ["accept", "accept_for_session", "decline", "cancel"],
      },
    ]);
  });

  it("apply to scripts inside scripts, and to a program by its path", async () => {
    const text = `prefix_rule(pattern=["say", "no"], decision="forbidden")`;
    const { run } = await judged({ approvalPolicy: "on-request", rules: rules(text) });
    for (const cmd of ["env X=1 say no", `bash -c "say no"`, "/opt/bin/say no", "./say no", "sh <<E\nsay no\nE"]) {
      expect((await run(cmd)).status, cmd).toBe("forbidden");
    }
  });

  it("allow the program of that name in a directory of the system only", async () => {
    const text = `prefix_rule(pattern=["say"], decision="allow")
prefix_rule(pattern=["sing"], decision="allow")
host_executable(name="sing", paths=["/opt/sing/bin/sing"])`;
    const { run, asked, sent } = await judged({ approvalPolicy: "untrusted", rules: rules(text) });
    for (const cmd of ["say hi", "/usr/bin/say hi", "/opt/sing/bin/sing la"]) await run(cmd);
    expect(asked).toEqual([]);
    const skip = { bypassSandbox: true, proposedExecPolicyAmendment: null };
    expect(sent()).toMatchObject(Array(3).fill({ execApprovalRequirement: { skip } }));
    for (const cmd of ["/tmp/say hi", "./say hi", "/usr/bin/sing la"]) await run(cmd);
    expect(asked).toHaveLength(3);
  });

  it("ask for what a file that does not load may have restricted, with the error", async () => {
    const text = `prefix_rule(pattern=["say"], decision="forbidden", nonsense=1)`;
    const { run, asked } = await judged({ approvalPolicy: "on-request", rules: rules(text) });
    await run("say hi");
    expect(asked[0]?.reason).toMatch(/team\.rules.*does not load.*nonsense/);
  });
});

describe("accept_and_save", () => {
  it("saves the proposed rule, which is in force at once and after the next start", async () => {
    const file = join(directory, "saved", "default.rules");
    const policy: PolicyOptions = { approvalPolicy: "untrusted", saveRule: createRuleSaver(file) };
    const { run, asked, sent } = await judged(policy, "accept_and_save", "accept_and_save");
    expect((await run("say hi")).status).toBe("success");
    expect(asked).toMatchObject([
      {
        proposedAmendment: ["say", "hi"],
        availableDecisions: ["accept", "accept_for_session", "accept_and_save", "decline", "cancel"],
      },
    ]);
    const whole = join(directory, "saved", "whole");
    expect(await readFile(join(whole, "default.rules"), "utf8")).toBe(
      'prefix_rule(pattern=["say", "hi"], decision="allow", whole=True)\n',
    );
    await run("say hi", { workdir: "/elsewhere" });
    expect(asked).toHaveLength(1);
    expect(sent().at(-1)).toMatchObject({ execApprovalRequirement: { skip: { bypassSandbox: true } } });
    await run("say ho");
    const loaded = await loadRulePolicy([{ directory: whole }]);
    expect(loaded.rules.map(({ origin }) => origin.line)).toEqual([1, 2]);
    const next = await judged({ approvalPolicy: "untrusted", rules: loaded });
    expect([(await next.run("say hi")).status, (await next.run("say ho")).status]).toEqual(["success", "success"]);
    expect(next.asked).toEqual([]);
    await next.run("say hi there");
    expect(next.asked).toHaveLength(1);
  });

  it("saves the rule that the person made of it", async () => {
    const file = join(directory, "edited.rules");
    const edited: ApprovalAnswer = { decision: "accept_and_save", rule: ["mkdir"] };
    const { run, asked } = await judged({ approvalPolicy: "untrusted", saveRule: createRuleSaver(file) }, edited);
    await run("mkdir hi");
    await run("mkdir something else");
    expect(asked).toHaveLength(1);
    expect(await readFile(file, "utf8")).toBe('prefix_rule(pattern=["mkdir"], decision="allow")\n');
  });

  it("runs the command when the rule cannot be saved, says so, and does not count on the rule", async () => {
    const file = join(directory, "whole", "broken.rules");
    await mkdir(join(directory, "whole"));
    await writeFile(file, "this is no rule\n");
    const policy: PolicyOptions = {
      approvalPolicy: "untrusted",
      saveRule: createRuleSaver(join(directory, "broken.rules")),
    };
    const { run, asked, sent } = await judged(policy, "accept_and_save");
    const result = await run("say hi");
    expect(result.text).toMatch(/not saved: .*does not load/);
    expect(sent()).toHaveLength(1);
    expect((await run("say hi")).status).toBe("denied");
    expect(asked).toHaveLength(2);
    expect(await readFile(file, "utf8")).toBe("this is no rule\n");
  });

  it.each<[string[], RegExp]>([
    [["bash"], /not saved: no command of the call begins with|not saved: `bash` runs what it reads/],
    [["say"], /not saved: what follows "say" may say what else is run: only a whole command/],
  ])("never saves a rule that leaves open what is run: %j", async (rule, problem) => {
    const saved: unknown[] = [];
    const saveRule: SaveRule = async (rule) => {
      saved.push(rule);
      return { file: "x.rules", line: 1 };
    };
    const edited: ApprovalAnswer = { decision: "accept_and_save", rule };
    const { run } = await judged({ approvalPolicy: "untrusted", saveRule }, edited);
    expect((await run("say hi")).text).toMatch(problem);
    expect(saved).toEqual([]);
  });
});

describe("the proposed rule", () => {
  const escalated = { sandbox_permissions: "require_escalated" };

  it.each([
    ["what the model suggests", "mkdir a && mkdir b", { ...escalated, prefix_rule: ["mkdir"] }, ["mkdir"]],
    ["the whole command for a program that may run others", "say hi", { prefix_rule: ["say"] }, ["say", "hi"]],
    [
      "the first command when the suggestion does not cover all",
      "say hi && sing",
      { prefix_rule: ["say"] },
      ["say", "hi"],
    ],
    ["the command when the suggestion is banned", "git push", { prefix_rule: ["git"] }, ["git", "push"]],
    ["the command when nothing is suggested", "say 'a b'", {}, ["say", "a b"]],
    ["the argv of an opaque script", "say > x", {}, ["/bin/bash", "-lc", "say > x"]],
    ["none for an interpreter that runs its input", "python3 -i", {}, null],
    ["the whole command for a dangerous one", "rm -rf x", {}, ["rm", "-rf", "x"]],
    ["never a part of one", "rm -f x", { ...escalated, prefix_rule: ["rm", "-f"] }, ["rm", "-f", "x"]],
    ["none for a danger found inside", "sudo rm -rf x", {}, null],
    ["none for a very long command", `say ${"x".repeat(5000)}`, {}, null],
  ] as const)("is %s", async (_name, cmd, more, proposed) => {
    const { run, asked } = await judged({ approvalPolicy: "on-request" });
    await run(cmd, { ...escalated, ...more });
    expect(asked[0]?.proposedAmendment).toEqual(proposed);
  });
});
