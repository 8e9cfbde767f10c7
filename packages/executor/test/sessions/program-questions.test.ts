import { describe, expect, it } from "vitest";
import { useScriptedHosts } from "../support/scripted-host.js";

const openHost = useScriptedHosts();
const execGate = { rules: [], hostExecutables: [], approved: [], questions: { key: "k", most: 8, timeoutMs: 1000 } };
const QUESTION = { program: "/bin/x", argv: ["x", "y"], cwd: "/", rule: "r" };

/** A command whose program waits for an answer. */
async function open(request: { yieldTimeMs: number; timeoutMs?: number }) {
  const host = openHost();
  Object.assign(host.backend, { takesGate: true });
  await host.client.initialize({ answersPrograms: true });
  const result = host.client.exec({ command: ["sh"], execGate, ...request }, "exec");
  result.catch(() => {}); // some tests end before it is answered
  const process = await host.backend.started(0);
  await host.clock.untilWaiting(request.timeoutMs === undefined ? 1 : 2);
  const withdrawal = new AbortController();
  const verdict = process.spec.programQuestions!.ask(QUESTION, withdrawal.signal);
  const question = await host.client.ofType("program_question");
  const answer = (decision: "run" | "end") =>
    host.client.send({ type: "program_answer", questionId: question.questionId, decision });
  return { ...host, process, result, question, verdict, answer, withdrawal };
}

describe("while a program waits for an answer", () => {
  it("no window and no time limit of its session passes", async () => {
    const { clock, process, result, verdict, answer } = await open({ yieldTimeMs: 250, timeoutMs: 1000 });
    expect(clock.waiting).toBe(0);
    clock.advance(5000);
    await answer("run");
    expect(await verdict).toBe("run");
    expect(clock.waiting).toBe(2);
    clock.advance(249);
    expect(process.events).toEqual([]);
    clock.advance(1);
    expect((await result).result).toMatchObject({ outcome: { kind: "running" }, waitEnded: "window" });
    clock.advance(750);
    await process.exited;
    expect(process.events).toEqual(["terminate timeout"]);
  });

  it("a cancelled call says for what its command waits", async () => {
    const host = await open({ yieldTimeMs: 250 });
    await host.client.send({ type: "cancel_tool", requestId: "exec" });
    const { result } = await host.result;
    expect(result.notices).toContain("waiting for permission: x y");
    expect(host.question).toMatchObject({ key: "k", processId: result.processId, ...QUESTION });
  });

  it("the answer may end the session", async () => {
    const { process, verdict, answer } = await open({ yieldTimeMs: 250 });
    await answer("end");
    expect(await verdict).toBe("declined");
    await process.exited;
    expect(process.events).toEqual(["terminate terminate"]);
  });

  it("it can be withdrawn, and time passes again", async () => {
    const { client, clock, question, verdict, withdrawal } = await open({ yieldTimeMs: 250 });
    withdrawal.abort();
    expect(await verdict).toBe("unasked");
    expect(await client.ofType("question_withdrawn")).toMatchObject({ questionId: question.questionId });
    expect(clock.waiting).toBe(1);
  });
});
