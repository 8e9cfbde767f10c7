import type { AnsweredElsewhere, ApprovalAnswer, ApprovalRequest, Approver } from "@codex/orchestrator";
import { expect, it } from "vitest";
import { createApproverPanel } from "../../src/approvals/approver-panel.js";

/** Answers when told to. */
function scripted() {
  const asked: { request: ApprovalRequest; signal: AbortSignal }[] = [];
  let answer: (answer: ApprovalAnswer) => void = () => {};
  let fail: (error: Error) => void = () => {};
  const approver: Approver = {
    requestApproval(request, { signal }) {
      asked.push({ request, signal });
      return new Promise((resolve, reject) => {
        answer = resolve;
        fail = reject;
      });
    },
  };
  return { approver, asked, answer: (value: ApprovalAnswer) => answer(value), fail: (error: Error) => fail(error) };
}

const REQUEST = { id: "1" } as ApprovalRequest; // the panel only passes it on
const { signal } = new AbortController();

it("asks all, takes the first answer and withdraws the question from the others, saying who answered", async () => {
  const [terminal, one, two] = [scripted(), scripted(), scripted()];
  const panel = createApproverPanel();
  panel.add(one.approver);
  panel.add(two.approver);
  const answer = panel.join(terminal.approver)?.requestApproval(REQUEST, { signal });
  two.answer({ decision: "accept", via: "view 2" });
  expect(await answer).toEqual({ decision: "accept", via: "view 2" });
  const elsewhere: AnsweredElsewhere = { decision: "accept", via: "view 2" };
  expect([terminal, one].map(({ asked }) => asked[0]?.signal.reason)).toEqual([elsewhere, elsewhere]);
  expect(two.asked[0]?.signal.aborted).toBe(false);
});

it("asks one that is added while a question is open, and goes on without one that fails", async () => {
  const [terminal, late] = [scripted(), scripted()];
  const panel = createApproverPanel();
  const answer = panel.join(terminal.approver)?.requestApproval(REQUEST, { signal });
  panel.add(late.approver);
  expect(late.asked).toHaveLength(1);
  terminal.fail(new Error("the terminal is closed"));
  await Promise.resolve();
  late.answer("decline");
  expect(await answer).toBe("decline");
});

it("has nobody to ask without members, and fails when the last one is removed", async () => {
  const panel = createApproverPanel();
  expect(panel.join(undefined)).toBeUndefined();
  const only = scripted();
  const remove = panel.add(only.approver);
  const answer = panel.join(undefined)?.requestApproval(REQUEST, { signal });
  remove();
  await expect(answer).rejects.toThrow("the approver was removed");
  expect(panel.join(undefined)).toBeUndefined();
});

it.each([undefined, null])("passes an answer that is none on: %j", async (nothing) => {
  const [one, two] = [scripted(), scripted()];
  const panel = createApproverPanel();
  panel.add(two.approver);
  const answer = panel.join(one.approver)?.requestApproval(REQUEST, { signal });
  one.answer(nothing as unknown as ApprovalAnswer); // an approver in JavaScript
  expect(await answer).toBe(nothing);
  expect(two.asked[0]?.signal.reason).toEqual({ decision: undefined, via: undefined });
});

it("goes on without an approver whose answer cannot be read", async () => {
  const [one, two] = [scripted(), scripted()];
  const panel = createApproverPanel();
  panel.add(two.approver);
  const answer = panel.join(one.approver)?.requestApproval(REQUEST, { signal });
  one.answer({
    get decision(): never {
      throw new Error("it is gone");
    },
  });
  await Promise.resolve();
  two.answer("decline");
  expect(await answer).toBe("decline");
});

it("withdraws a question that nobody waits for any more", async () => {
  const panel = createApproverPanel();
  const one = scripted();
  panel.add(one.approver);
  const given = new AbortController();
  const answer = panel.join(undefined)?.requestApproval(REQUEST, { signal: given.signal });
  given.abort(new Error("the turn is over"));
  await expect(answer).rejects.toThrow("the turn is over");
  expect(one.asked[0]?.signal.aborted).toBe(true);
});
