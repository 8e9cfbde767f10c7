// Programs that wait until somebody has decided about them.
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ProgramQuestion, ProgramVerdict } from "@codex/exec-gate";
import { describe, expect, it } from "vitest";
import type { GateQuestions } from "../../src/gate/gate.js";
import { BWRAP, isGateLikely, useGate } from "./support.js";

/** Answers as it is told, and remembers what it was asked. */
function createAsking(answer: (question: ProgramQuestion, signal: AbortSignal) => Promise<ProgramVerdict>, more = {}) {
  const asked: ProgramQuestion[] = [];
  const questions: GateQuestions = {
    most: 8,
    timeoutMs: 60_000,
    ...more,
    ask(question, signal) {
      asked.push(question);
      return answer(question, signal);
    },
  };
  return { asked, questions };
}

const rules = [["ask", "touch"]] as const;

describe.runIf(isGateLikely)("a program that waits for an answer", () => {
  const gate = useGate();

  it.each([false, ...(BWRAP === undefined ? [] : [true])])("starts once it may, sandboxed: %s", async (isSandboxed) => {
    const ws = gate.makeDirectory();
    const { asked, questions } = createAsking(async () => "run");
    const ran = await gate.run({ script: "touch made && echo yes", rules, questions, ws, isSandboxed });
    expect(ran).toMatchObject({ output: "yes\n", reports: [] });
    expect(existsSync(join(ws, "made"))).toBe(true);
    expect(asked).toEqual([
      { program: expect.stringMatching(/\/touch$/), argv: ["touch", "made"], cwd: ws, rule: "r0" },
    ]);
  });

  it("leaves others running meanwhile", async () => {
    let decide = (_: ProgramVerdict) => {};
    const { questions } = createAsking(() => new Promise((resolve) => (decide = resolve)));
    const waiting = gate.run({ script: "touch made", rules, questions });
    const other = await gate.run({ script: "for i in 1 2 3; do /bin/true && echo $i; done", rules, questions });
    expect(other.output).toBe("1\n2\n3\n");
    decide("declined");
    expect((await waiting).reports).toMatchObject([{ decision: "refused", reason: "declined", rule: "r0" }]);
  });

  it("shares the question of others that are the same, and of no others", async () => {
    let decide = () => {};
    const all = new Promise<void>((resolve) => (decide = resolve));
    const { asked, questions } = createAsking(async () => {
      if (asked.length === 2) decide();
      await all;
      return "run";
    });
    const script = "touch one & touch one & touch one & touch two & wait; ls";
    const { output } = await gate.run({ script, rules, questions });
    expect(output).toBe("one\ntwo\n");
    expect(asked.map(({ argv }) => argv[1]).sort()).toEqual(["one", "two"]);
  });

  it("is refused where there is no answer in time, and the question is withdrawn", async () => {
    let isWithdrawn = false;
    const never = (_: ProgramQuestion, signal: AbortSignal) =>
      new Promise<ProgramVerdict>(() => signal.addEventListener("abort", () => (isWithdrawn = true)));
    const { asked, questions } = createAsking(never, { timeoutMs: 50 });
    const { reports, output } = await gate.run({ script: "touch made; echo $?", rules, questions });
    expect(output).toContain("126");
    expect(reports).toMatchObject([{ decision: "refused", reason: "unanswered" }]);
    expect(asked).toHaveLength(1);
    expect(isWithdrawn).toBe(true);
  });

  it("whose caller is gone is not started, and the question is withdrawn", async () => {
    const ws = gate.makeDirectory();
    const { promise: withdrawn, resolve } = promiseWithResolvers<void>();
    const { questions } = createAsking((_, signal) => {
      signal.addEventListener("abort", () => resolve());
      writeFileSync(join(ws, "asked"), "");
      return new Promise(() => {});
    });
    const script = "touch made & pid=$!; until [ -e asked ]; do :; done; kill -9 $pid; wait $pid; echo $?";
    const { output, reports } = await gate.run({ script, rules, questions, ws });
    expect(output).toContain("137");
    await withdrawn;
    expect(reports).toEqual([]);
    expect(existsSync(join(ws, "made"))).toBe(false);
  });

  it("is refused where its asker fails", async () => {
    const { questions } = createAsking(() => Promise.reject(new Error("it is broken")));
    const { reports } = await gate.run({ script: "touch made", rules, questions });
    expect(reports).toMatchObject([{ decision: "refused", reason: "unasked" }]);
  });

  it("is a script that was asked about, with its interpreter", async () => {
    const { asked, questions } = createAsking(async () => "run");
    const script = "printf '#!/bin/sh\\necho ran' >x; chmod +x x; ./x";
    const both = [
      ["ask", "x"],
      ["ask", "sh"],
    ] as const;
    const { output } = await gate.run({ script, rules: both, questions });
    expect(output).toBe("ran\n");
    expect(asked).toHaveLength(1);
  });
});

function promiseWithResolvers<Value>() {
  let resolve!: (value: Value) => void;
  const promise = new Promise<Value>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
