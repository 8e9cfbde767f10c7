// Whatever is asked about, one answer has one outcome and one record.
import { existsSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AuditEvent, AuditLog } from "@codex/audit";
import { createLocalOrchestrator } from "@codex/local";
import { type Approver, type Orchestrator, OrchestratorError, type ToolCallResult } from "@codex/orchestrator";
import { describe, expect, it, onTestFinished } from "vitest";

/** An orchestrator that asks about everything. */
async function open(approver: Approver, approvalMs = 0) {
  const events: AuditEvent[] = [];
  const log: AuditLog = { record: async (event) => void events.push(event), flush: async () => {} };
  const directory = realpathSync(mkdtempSync(join(tmpdir(), "decided ")));
  let isAnswering = false;
  let called = 0;
  const orchestrator = await createLocalOrchestrator({
    policy: { approvalPolicy: "untrusted", sandbox: "danger-full-access" },
    approver: {
      // What prepares a deed, such as the start of a shell, is accepted.
      requestApproval: async (...question) => (isAnswering ? approver.requestApproval(...question) : "accept"),
    },
    audit: { log },
    defaults: { cwd: directory, login: false, timings: { approvalMs } },
    tools: [
      {
        spec: { name: "push", description: "Pushes.", inputSchema: { type: "object" }, asksApproval: true },
        async call() {
          called += 1;
          return { status: "success", content: [] };
        },
      },
    ],
  });
  onTestFinished(async () => {
    await orchestrator.close();
    rmSync(directory, { recursive: true, force: true });
  });
  const path = (name: string) => join(directory, name);
  return {
    orchestrator,
    directory,
    path,
    wasCalled: () => called > 0,
    answer() {
      events.length = 0;
      isAnswering = true;
    },
    approvals: () => events.filter((event) => event.type === "approval"),
  };
}

type Stage = Awaited<ReturnType<typeof open>>;
/** The reason when it was not done. */
type Outcome = "done" | string;

/** Each does something, or tells why it was not done. */
const DEEDS: Record<string, (stage: Stage, signal?: AbortSignal) => Promise<Outcome>> = {
  async command({ orchestrator, path, answer }, signal) {
    answer();
    const result = await orchestrator.callTool("exec_command", { cmd: "touch command" }, { ...(signal && { signal }) });
    return result.isError ? whyNot(result) : existsSync(path("command")) ? "done" : "nothing";
  },
  async "typed line"({ orchestrator, answer }, signal) {
    const started = await orchestrator.callTool("exec_command", {
      cmd: "bash --norc",
      tty: true,
      yield_time_ms: 300,
    });
    const id = started.isError ? undefined : started.structured?.processId;
    answer();
    const args = { session_id: id, chars: "rm -rf nothing\n", yield_time_ms: 300 };
    const result = await orchestrator.callTool("write_stdin", args, { ...(signal && { signal }) });
    return result.isError ? whyNot(result) : "done";
  },
  async "tool call"({ orchestrator, answer, wasCalled }, signal) {
    answer();
    const result = await orchestrator.callTool("push", {}, { ...(signal && { signal }) });
    return result.isError ? whyNot(result) : wasCalled() ? "done" : "nothing";
  },
  async patch({ orchestrator, directory, path, answer }, signal) {
    answer();
    const [executor] = orchestrator.executors;
    const change = { environment: executor!.name, tool: "apply_patch", cwd: directory, paths: [path("p")], text: "…" };
    const decided = await orchestrator.files.decide(change, { ...(signal && { signal }) });
    return decided.kind === "allowed" ? "done" : decided.reason;
  },
  async "file write"({ orchestrator, path, answer }, signal) {
    answer();
    return orchestrator.files.write(path("w"), new Uint8Array([1]), { ...(signal && { signal }) }).then(
      () => (existsSync(path("w")) ? "done" : "nothing"),
      (error: unknown) => reasonOf(error, path("w")),
    );
  },
};

const whyNot = ({ structured }: Extract<ToolCallResult, { isError: true }>): string =>
  "reason" in structured ? structured.reason : structured.outcome.reason;

const reasonOf = (error: unknown, path: string): string => {
  if (!(error instanceof OrchestratorError)) throw error;
  return error.message.slice(`\`${path}\`: `.length, -". Nothing was done.".length);
};

/** Without what is asked about: `(asked because …)`. */
const cut = (reason: string): string => reason.replace(/ \(asked because .*\)$/, "");

const FAILURE = { decision: "denied", by: "failure" };

const ANSWERS: [name: string, answer: unknown, outcome: RegExp, record: object][] = [
  [
    "an answer with where it came from",
    { decision: "accept", via: "desk" },
    /^done$/,
    { decision: "approved", by: "user", via: "desk" },
  ],
  ["an answer for the session", "accept_for_session", /^done$/, { decision: "approved", by: "user" }],
  ["an answer that is none of the decisions", "yes", /^the decision `yes` is not one of accept, /, FAILURE],
  ["no answer at all", undefined, /^the decision `undefined` is not one of accept, /, FAILURE],
  ["a decision that was not offered", "accept_and_save", /^the decision `accept_and_save` is not one of /, FAILURE],
  [
    "a refusal of a model",
    { decision: "decline", by: "model" },
    /^the model declined it$/,
    { decision: "denied", by: "model" },
  ],
  ["the end of the turn", "cancel", /^the user ended the turn$/, { decision: "cancelled", by: "user" }],
];

describe.each(Object.entries(DEEDS))("a %s", (_name, run) => {
  it.each(ANSWERS)("takes %s", async (_answer, answer, outcome, record) => {
    // What an approver in JavaScript may answer.
    const stage = await open({ requestApproval: async () => answer as "accept" });
    expect(cut(await run(stage))).toMatch(outcome);
    const [approval, ...others] = stage.approvals();
    expect(others).toEqual([]);
    const { type: _type, call: _call, approval: _id, ...recorded } = approval!;
    expect(recorded).toEqual(record);
  });

  it("is refused where asking fails, with the reason", async () => {
    const stage = await open({
      requestApproval() {
        throw new Error("no terminal");
      },
    });
    expect(cut(await run(stage))).toBe("it needs approval, and requesting it failed: no terminal");
    expect(stage.approvals()).toMatchObject([FAILURE]);
  });

  it("is refused where nobody answers in time, and the question is withdrawn", async () => {
    let withdrawn = false;
    const stage = await open(
      {
        requestApproval: (_request, { signal }) =>
          new Promise((_, reject) => {
            signal.addEventListener("abort", () => {
              withdrawn = true;
              reject(signal.reason);
            });
          }),
      },
      200,
    );
    expect(cut(await run(stage))).toBe("there was no decision within 200 ms");
    expect(withdrawn).toBe(true);
    expect(stage.approvals()).toMatchObject([{ decision: "denied", by: "timeout" }]);
  });

  it.each(["the caller", "the end of the orchestrator"])("is not done where %s withdraws the question", async (who) => {
    const caller = new AbortController();
    let orchestrator: Orchestrator | undefined;
    const stage = await open({
      requestApproval: () => {
        if (who === "the caller") caller.abort();
        else void orchestrator!.close();
        return new Promise(() => {});
      },
    });
    ({ orchestrator } = stage);
    const reason = await run(stage, caller.signal);
    expect(reason).toMatch(/was interrupted before|was closed before/);
    expect(stage.approvals()).toMatchObject([{ decision: "interrupted", by: "interrupt" }]);
  });
});
