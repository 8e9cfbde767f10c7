// Programs that wait until somebody has decided about them.
import { once } from "node:events";
import { chmodSync, existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ProgramQuestion, ProgramVerdict } from "@codex/exec-gate";
import { describe, expect, it } from "vitest";
import type { Command } from "../../src/gate/command-table.js";
import type { GateQuestions } from "../../src/gate/gate.js";
import { Questions, type WaitingCaller } from "../../src/gate/questions.js";
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
      {
        program: expect.stringMatching(/\/touch$/),
        argv: ["touch", "made"],
        cwd: ws,
        rule: "r0",
      },
    ]);
  });

  describe.runIf(BWRAP !== undefined && process.arch === "x64")("outside of its sandbox", () => {
    const ask = async (script: string, answer: GateQuestions["ask"] = async () => "outside") => {
      const out = gate.makeDirectory();
      const { asked, questions } = createAsking(answer);
      const env = { OUT: out };
      const ran = await gate.run({ script, rules, questions, isSandboxed: true, env, profile: "unrestricted" });
      return { ...ran, asked: asked.length, files: readdirSync(out).sort() };
    };

    it("starts there once it may", async () => {
      const ran = await ask("touch $OUT/f; echo $?");
      expect(ran).toMatchObject({ output: "0\n", asked: 1, files: ["f"] });
      expect(ran.reports).toMatchObject([{ decision: "outside", reason: "approved", exitCode: 0 }]);
    });

    it("starts there with another that waits", async () => {
      const ran = await ask("touch $OUT/a & touch $OUT/b & wait; echo $?");
      expect(ran).toMatchObject({ output: "0\n", asked: 2, files: ["a", "b"] });
    });

    it("is refused where it cannot start there", async () => {
      const ran = await ask("cd /dev/shm; touch $OUT/f 2>/dev/null; echo $?");
      expect(ran).toMatchObject({ output: "126\n", asked: 1, files: [] });
      expect(ran.reports).toMatchObject([{ decision: "refused", reason: "not_outside" }]);
    });

    it("is refused where its command can change its file", async () => {
      const ran = await ask("cp /usr/bin/touch .; ./touch $OUT/f 2>/dev/null; echo $?");
      expect(ran).toMatchObject({ output: "126\n", asked: 1, files: [] });
      expect(ran.reports).toMatchObject([{ reason: "not_outside", detail: "the command may have changed its file" }]);
    });

    it("does not start once its caller is gone", async () => {
      const answer = async (_question: ProgramQuestion, signal: AbortSignal) => {
        await once(signal, "abort");
        return "outside" as const;
      };
      const ran = await ask("timeout -s KILL 0.3 touch $OUT/f; echo $?", answer);
      expect(ran).toMatchObject({ files: [], reports: [] });
    });
  });

  it("is asked about where it is, and not for each directory of PATH in which it is not", async () => {
    const ws = gate.makeDirectory();
    const { asked, questions } = createAsking(async () => "run", { most: 1 });
    const script = `mkdir empty shut; ln -s empty link; : > file; chmod 000 shut
      exec env PATH=$PWD/none:$PWD/link:$PWD/file:$PWD/shut:/usr/bin:/bin touch made`;
    const { status, reports } = await gate.run({ argv: ["/bin/sh", "-c", script], ws, rules, questions });
    chmodSync(join(ws, "shut"), 0o700); // so that it can be removed
    expect({ status, reports }).toEqual({ status: { code: 0 }, reports: [] });
    expect(asked.map(({ program }) => program)).toEqual([expect.stringMatching(/^(?:\/usr)?\/bin\/touch$/)]);
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

describe("open questions", () => {
  const command = { mark: 1n, questions: { most: 2, timeoutMs: 100 } } as Command;
  const createCaller = (tid: number, word: string): WaitingCaller => ({
    notification: { id: BigInt(tid), tid } as WaitingCaller["notification"],
    command,
    call: {
      path: Buffer.from("/bin/touch"),
      argv: [Buffer.from("touch"), Buffer.from(word)],
      program: { file: "/bin/touch", argv: ["touch", word], trust: "none" },
      file: undefined,
    },
    rule: { id: "r", pattern: [["touch"]], decision: "ask", place: { kind: "inside" } },
  });

  it("are shared by callers of the same program in the same directory, and by no others", () => {
    const sent: string[] = [];
    const open = new Questions(
      ({ type, id }) => sent.push(`${type} ${id}`),
      () => 0,
    );
    const [one, same, elsewhere, other] = [1, 2, 3, 4].map((tid) => createCaller(tid, "one"));
    expect([open.add(one!, "/a"), open.add(same!, "/a"), open.add(elsewhere!, "/b")]).toEqual([
      "waits",
      "waits",
      "waits",
    ]);
    expect(sent).toEqual(["question 0", "question 1"]);
    expect(open.add(createCaller(5, "two"), "/a")).toBe("unasked"); // the command has asked twice
    expect(open.take(0)).toEqual([one, same]);
    open.noteRefused(one!, "declined");
    expect(open.add(createCaller(1, "one"), "/a")).toBe("declined");
    expect(open.add(other!, "/b")).toBe("waits");
    expect(open.takeGone((caller) => caller === elsewhere)).toEqual([elsewhere]);
    expect(open.takeAll(1n)).toEqual([other]);
    expect(sent).toEqual(["question 0", "question 1", "withdrawn 1"]);
    expect(open.isOpen).toBe(false);
  });

  it("about words that cannot be shown whole are shared by none, and say so", () => {
    const sent: boolean[] = [];
    const open = new Questions(
      (message) => sent.push(message.type === "question" && message.question.isCut === true),
      () => 0,
    );
    for (const tid of [1, 2]) open.add(createCaller(tid, "x".repeat(5000)), "/");
    expect(sent).toEqual([true, true]);
  });

  it("are withdrawn when their time is over, and not before", () => {
    let now = 0;
    const open = new Questions(
      () => {},
      () => now,
    );
    const caller = createCaller(1, "one");
    open.add(caller, "/");
    now = 99;
    expect(open.takeOverdue()).toEqual([]);
    now = 100;
    expect(open.takeOverdue()).toEqual([caller]);
    expect(open.take(0)).toEqual([]);
  });
});

function promiseWithResolvers<Value>() {
  let resolve!: (value: Value) => void;
  const promise = new Promise<Value>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
