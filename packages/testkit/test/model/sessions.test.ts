import { createCountingIds, createExecutor, DEFAULT_EXECUTOR_LIMITS } from "@codex/executor";
import type { ProcessOutcome, ToolCallOutcome } from "@codex/executor-protocol";
import fc from "fast-check";
import { expect, it } from "vitest";
import { bytesOf, Client, errorOf, execRequest, unwrap, writeRequest } from "../../../executor/test/support/client.js";
import { ManualClock, settle } from "../../../executor/test/support/manual-clock.js";
import { createScriptedBackend, type ScriptedProcess } from "../../../executor/test/support/scripted-backend.js";
import { check } from "../fuzz/support.js";
import { type Expected, type ModelSession, SessionModel } from "./session-model.js";

type Step =
  | { do: "start"; prints: number; ends: boolean; key: number }
  | { do: "print"; which: number; bytes: number }
  | { do: "exit" | "close" | "poll" | "kill"; which: number }
  | { do: "write"; which: number; key: number }
  | { do: "signal"; which: number };

const which = fc.nat({ max: 9 });
/** 0 is none; the others come again. */
const key = fc.nat({ max: 4 });
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant("start" as const), prints: fc.nat({ max: 9 }), ends: fc.boolean(), key }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant("print" as const), which, bytes: fc.integer({ min: 1, max: 40 }) }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constantFrom("exit" as const, "close" as const, "poll" as const, "kill" as const),
      which,
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("write" as const), which, key }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("signal" as const), which }) },
);

const LIMITS = { places: 3, newest: 1 };

/** Letters that tell their place. */
const textAt = (from: number, to: number): string =>
  Array.from({ length: to - from }, (_, index) => String.fromCharCode(97 + ((from + index) % 26))).join("");

/** An executor over scripted processes and manual time, and what it should be, taken through the same steps. */
class Run {
  readonly #clock = new ManualClock();
  readonly #backend = createScriptedBackend(this.#clock);
  readonly #client: Client;
  readonly #model = new SessionModel(LIMITS);
  readonly #processes = new Map<number, ScriptedProcess>();
  readonly #answers = new Map<string, ToolCallOutcome>();
  readonly #ids: number[] = [];
  #started = 0;

  constructor() {
    const limits = {
      sessions: LIMITS.places,
      newestSessions: LIMITS.newest,
      recentSessions: 1_000,
      retainedLogs: 1_000,
    };
    this.#client = new Client(
      createExecutor({
        backend: this.#backend,
        clock: this.#clock,
        ids: createCountingIds(),
        limits: { ...DEFAULT_EXECUTOR_LIMITS, ...limits },
      }),
    );
  }

  async initialize(): Promise<void> {
    await this.#client.initialize();
  }

  async apply(next: Step): Promise<void> {
    switch (next.do) {
      case "start":
        return this.#start(next);
      case "print": {
        const { session, process } = this.#pick(next.which);
        if (session === undefined || session.closed) return;
        process?.print(textAt(session.end, session.end + next.bytes));
        session.end += next.bytes;
        return;
      }
      case "exit": {
        const { session, process } = this.#pick(next.which);
        if (session === undefined || session.outcome.kind !== "running") return;
        process?.exit(3);
        session.outcome = { kind: "exited", code: 3 };
        return settle();
      }
      case "close": {
        const { session, process } = this.#pick(next.which);
        if (session === undefined || session.closed || session.outcome.kind === "running") return;
        process?.close();
        session.closed = true;
        await settle();
        return this.#model.settle(session);
      }
      case "poll":
        return this.#call(next.which, {}, 0);
      case "write":
        return this.#call(next.which, { input: "x" }, next.key);
      case "signal":
        return this.#call(next.which, { signal: "interrupt" }, 0);
      case "kill":
        return this.#kill(next.which);
    }
  }

  /** After the end nothing runs, and everybody was told once. */
  async end(): Promise<void> {
    const running = this.#model.sessions.filter(({ outcome }) => outcome.kind === "running").map(({ id }) => id);
    await this.#client.close();
    for (const process of this.#backend.processes) expect(process.outcome.kind).not.toBe("running");
    for (const id of running) expect(this.#processes.get(id)?.outcome).toMatchObject({ by: "shutdown" });
    expect(this.#clock.waiting).toBe(0);
    this.#checkDeltas();
    const told = this.#client.all("session_exited").map(({ processId }) => processId);
    expect(new Set(told).size).toBe(told.length);
  }

  async #start({ prints, ends, key }: Extract<Step, { do: "start" }>): Promise<void> {
    const name = `start ${key}`;
    const idempotencyKey = key === 0 ? {} : { idempotencyKey: String(key) };
    const request = execRequest({
      command: ["scripted"],
      yieldTimeMs: 0,
      tty: false,
      stdin: "open",
      ...idempotencyKey,
    });
    const known = key === 0 ? undefined : this.#answers.get(name);
    if (known !== undefined) {
      expect(await this.#client.call("exec_command", request)).toEqual(known);
      expect(this.#backend.processes.length).toBe(this.#started);
      return;
    }
    const pruned = this.#model.pickPruned();
    if (pruned !== undefined && pruned !== "full") this.#model.prune(pruned);
    const call = this.#client.call("exec_command", request);
    if (pruned === "full") throw new Error("with these limits there is always one that can give its place up");
    const process = await this.#backend.started(this.#started);
    this.#started += 1;
    process.print(textAt(0, prints));
    if (ends) process.end(5);
    const answer = await this.#answerOf(call);
    if (key !== 0) this.#answers.set(name, answer);
    const id = unwrap(answer).result.processId ?? -this.#started;
    this.#ids.push(id);
    this.#processes.set(id, process);
    const session = this.#model.start(id);
    session.end = prints;
    if (ends) this.#model.end(session, { kind: "exited", code: 5 });
    this.#checkAnswer(answer, session, this.#model.answer(session));
  }

  async #call(index: number, request: Record<string, unknown>, key: number): Promise<void> {
    const { session, process, id } = this.#pick(index);
    if (id === undefined || process === undefined) return;
    const name = `write ${id} ${key}`;
    const call = () =>
      this.#client.call(
        "write_stdin",
        writeRequest({
          processId: Math.abs(id),
          yieldTimeMs: 0,
          ...request,
          ...(key === 0 ? {} : { writeId: String(key) }),
        }),
      );
    const known = key === 0 ? undefined : this.#answers.get(name);
    const before = process.events.length;
    if (known !== undefined) {
      expect(await call()).toEqual(known);
      expect(process.events.length).toBe(before);
      return;
    }
    const answer = await this.#answerOf(call());
    if (key !== 0) this.#answers.set(name, answer);
    if (session === undefined || !this.#model.canBeCalled(session) || id < 0) {
      expect(errorOf(answer)).toMatch(/session/);
      expect(process.events.length).toBe(before);
      return;
    }
    const isAlive = session.outcome.kind === "running";
    const acts = request.input !== undefined ? (isAlive ? 1 : 0) : request.signal !== undefined ? 1 : 0;
    expect(process.events.length - before).toBe(acts);
    this.#checkAnswer(answer, session, this.#model.answer(session));
  }

  async #kill(index: number): Promise<void> {
    const { session, process, id } = this.#pick(index);
    if (id === undefined || process === undefined || session === undefined) return;
    const answer = await this.#answerOf(this.#client.call("kill_session", { session_id: Math.abs(id) }));
    if (!this.#model.canBeCalled(session) || id < 0) {
      expect(errorOf(answer)).toMatch(/session/);
      return;
    }
    const running = session.outcome.kind === "running";
    if (running) this.#model.end(session, { kind: "signaled", signal: "SIGTERM", by: "terminate" });
    else if (!session.closed) this.#model.end(session, session.outcome);
    this.#model.touch(session);
    expect(answer).toMatchObject({
      status: "success",
      structured: { running, gone: true, outcome: session.outcome, unreadBytes: session.end - session.cursor },
    });
  }

  #checkAnswer(answer: ToolCallOutcome, session: ModelSession, { from, to, outcome, closed }: Expected): void {
    const { result, output } = unwrap(answer);
    const processId = outcome.kind === "running" ? session.id : undefined;
    expect(result).toMatchObject({ outcome, closed, range: { from, to }, omitted: [] });
    expect(result.processId).toBe(processId);
    expect(result.exitCode).toBe(exitCodeOf(outcome));
    expect(output).toBe(textAt(from, to));
  }

  /** Live output is each byte once, in order, at least as far as it was answered. */
  #checkDeltas(): void {
    const ids = new Set(this.#client.deltas().map(({ processId }) => processId));
    for (const id of ids) {
      const deltas = this.#client.deltas().filter(({ processId }) => processId === id);
      const session = this.#model.get(id);
      let at = 0;
      for (const [index, { offset, seq, chunk }] of deltas.entries()) {
        expect({ seq, offset }).toEqual({ seq: index + 1, offset: at });
        at += Buffer.from(chunk, "base64").length;
      }
      expect(bytesOf(deltas).toString()).toBe(textAt(0, at));
      if (session !== undefined) expect(at).toBeGreaterThanOrEqual(session.cursor);
    }
  }

  #pick(index: number) {
    const id = this.#ids.length === 0 ? undefined : this.#ids[index % this.#ids.length];
    if (id === undefined) return { id, session: undefined, process: undefined };
    return { id, session: this.#model.get(id), process: this.#processes.get(id) };
  }

  /** Lets time go on until there is an answer. */
  async #answerOf(call: Promise<ToolCallOutcome>): Promise<ToolCallOutcome> {
    let answer: ToolCallOutcome | undefined;
    void call.then((outcome) => {
      answer = outcome;
    });
    for (let turns = 0; answer === undefined; turns += 1) {
      if (turns > 1_000) throw new Error("the call is never answered");
      await settle();
      this.#clock.advance(turns);
    }
    return answer;
  }
}

function exitCodeOf(outcome: ProcessOutcome): number | undefined {
  if (outcome.kind === "exited") return outcome.code;
  return outcome.kind === "signaled" ? 143 : undefined;
}

it("sessions behave as documented", () =>
  check(
    fc.asyncProperty(fc.array(step, { maxLength: 40, size: "max" }), async (steps) => {
      const run = new Run();
      await run.initialize();
      for (const next of steps) await run.apply(next);
      await run.end();
    }),
    60,
  ));
