import {
  compileGate,
  type GateRules,
  type ProgramQuestion,
  type ProgramReport,
  type ProgramVerdict,
  type QuestionLimits,
} from "@codex/exec-gate";
import { messageOf } from "@codex/values";
import type { Libc } from "../libc/libc.js";
import { type ExitStatus, isStopped, parseStatus } from "../process/exit-status.js";
import type { ChildStart } from "../process/spawn.js";
import type { CommandReach, JudgedProgram } from "./command-table.js";
import { GateError } from "./gate-error.js";
import { type GateCounts, GateThreads } from "./gate-threads.js";
import type { FromStarter, FromSupervisor, OutsideProgram, StartPlace, ToStarter } from "./messages.js";

/** Starts commands whose programs are judged before they run: by rules, by the file and the words of each. Linux. */
export interface Gate {
  /** Whether what runs is compared with what was judged. Otherwise a program that changes either meanwhile is not noticed. */
  readonly verifies: boolean;
  /** Resolves to the pid. Rejects with an error with a `code` when nothing was started; with `GateRuleError` for unusable rules. */
  spawn(start: GatedStart): Promise<number>;
  /** All processes of a command have ended, or it was not started. */
  end(mark: bigint): void;
  /** Programs that wait are not started, and sandboxes that still run end. Idempotent. */
  close(): Promise<GateCounts>;
}

/** A command to start through a gate: its rules, and what to tell of it. */
export interface GatedStart extends ChildStart {
  /** What its processes carry; see `Marks`. */
  mark: bigint;
  rules: GateRules;
  /** The program is the wrapper of a sandbox with a process namespace of its own. */
  isSandboxed: boolean;
  /** Programs that the sandbox starts before the command's own, its wrapper included: they are not judged. */
  wrappers: number;
  /** Absent: it can change every program, or runs in no sandbox. */
  reach: CommandReach | undefined;
  /** Starts its programs outside of its sandbox; absent: none leaves it. */
  leaving?: GateLeaving | undefined;
  /** Absent: a program that a rule asks about is refused. */
  questions?: GateQuestions | undefined;
  /** Called when there is more to report, with all so far, and how many there were that are not reported one by one. */
  onReports(reports: readonly ProgramReport[], omitted: number): void;
  /** Nothing judges its programs any more, and none is started: it is to be ended. */
  onBroken(): void;
}

/** How programs of a command are started outside of its sandbox. */
export interface GateLeaving {
  /** The environment of the command itself, which those programs get. */
  env: Readonly<Record<string, string>>;
  /** Rejects with why it cannot be started. */
  prepare(program: OutsideProgram): Promise<OutsideStart>;
}

/** What is started for a program outside: it, or the wrapper of another sandbox. */
export interface OutsideStart extends Omit<ChildStart, "onExit" | "stdio"> {
  mark: bigint;
  /** In a sandbox of its own its programs are judged, with the rules of its command, and none leaves it. */
  isSandboxed: boolean;
  wrappers: number;
  reach: CommandReach | undefined;
  /** Called with the pid, or with undefined where it was not started. */
  onStarted(pid: number | undefined): void;
  /** Resolves with the end of its caller, once nothing of it is left: an exit code, or 256 + the number of a signal. */
  settle(status: ExitStatus): Promise<number>;
}

/** Who is asked about the programs of a command. */
export interface GateQuestions extends QuestionLimits {
  /** The signal aborts when the answer is not needed any more. A rejection counts as `unasked`. */
  ask(question: ProgramQuestion, signal: AbortSignal): Promise<ProgramVerdict>;
}

/** Milliseconds between two looks at processes whose gate has failed. */
const BROKEN_POLL_MS = 5;
const WNOHANG = 1;

/** Starts its threads. Rejects with a `GateError`. */
export async function startGate(libc: Libc): Promise<ThreadedGate> {
  const gate = new ThreadedGate(libc);
  try {
    await gate.listening;
    return gate;
  } catch (error) {
    await gate.close();
    throw error;
  }
}

/** The exit code of a program that was found and could not be started. */
const NOT_STARTED = 126;

/** A group that is gone already is none to kill. */
function killGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // It is.
  }
}

/** The same rules for a program that has left its sandbox already. */
const keepInside = (rules: GateRules): GateRules => ({
  ...rules,
  rules: rules.rules.map((rule) => ({ ...rule, place: { kind: "inside" } })),
});

interface Starting {
  start: GatedStart;
  resolve(pid: number): void;
  reject(error: Error): void;
}

/** A command with what was reported of it, and of its programs that were started outside. */
interface Started {
  readonly start: GatedStart;
  readonly reports: ProgramReport[];
  omitted: number;
  readonly outside: Started[];
  /** The command whose program it is. */
  readonly parent: Started | undefined;
}

const recordStart = (start: GatedStart, parent?: Started): Started => ({
  start,
  reports: [],
  omitted: 0,
  outside: [],
  parent,
});

/** A gate whose abilities are not known yet. */
export class ThreadedGate implements Gate {
  readonly listening: Promise<void>;
  readonly #libc: Libc;
  readonly #threads: GateThreads;
  readonly #starting = new Map<number, Starting>();
  /** By pid. */
  readonly #running = new Map<number, GatedStart>();
  readonly #commands = new Map<bigint, Started>();
  /** Ids of programs that are being prepared, and are still waited for. */
  readonly #preparing = new Set<number>();
  /** By the id of the question. */
  readonly #asking = new Map<number, AbortController>();
  #nextId = 0;
  #problem: GateError | undefined;
  #closing: Promise<GateCounts> | undefined;
  verifies = false;

  constructor(libc: Libc) {
    this.#libc = libc;
    this.#threads = new GateThreads(libc, {
      onStarter: (message) => this.#onStarter(message),
      onSupervisor: (message) => this.#onSupervisor(message),
      onFailed: (error) => this.#onFailed(error),
    });
    this.listening = this.#threads.listening.then((waitsKillable) => {
      this.setTracing(waitsKillable);
      this.#keepAlive();
    });
  }

  /** Whether callers can be traced, which a trial shows. */
  setTracing(canTrace: boolean): void {
    this.verifies = canTrace;
    this.#threads.toSupervisor({ type: "tracing", canTrace });
  }

  spawn(start: GatedStart): Promise<number> {
    return new Promise((resolve, reject) => {
      if (this.#problem !== undefined) throw this.#problem;
      if (this.#closing !== undefined) throw new GateError("worker_threads", "it is closed");
      compileGate(start.rules); // throws here, not on the other thread
      this.#register(start);
      this.#threads.toStarter(this.#addStart({ start, resolve, reject }, undefined));
    });
  }

  /** Before its first program is started. */
  #register(start: GatedStart, judged?: JudgedProgram, parent?: Started): void {
    const { mark, rules, file, isSandboxed, wrappers, reach, leaving, questions } = start;
    this.#threads.toSupervisor({
      type: "command",
      ...{ mark, file, isSandboxed, wrappers, reach, judged },
      rules: JSON.stringify(rules),
      leaving: leaving && { env: leaving.env },
      questions: questions && { most: questions.most, timeoutMs: questions.timeoutMs },
    });
    const started = recordStart(start, parent);
    parent?.outside.push(started);
    this.#commands.set(mark, started);
  }

  #addStart(starting: Starting, place: StartPlace | undefined): Extract<ToStarter, { type: "spawn" }> {
    const id = this.#nextId++;
    this.#starting.set(id, starting);
    this.#keepAlive();
    const { mark, file, argv, env, cwd, stdio, descriptors } = starting.start;
    return { type: "spawn", id, mark, start: { file, argv, env, cwd, stdio, descriptors }, place };
  }

  end(mark: bigint): void {
    this.#commands.delete(mark);
    if (this.#isOpen) this.#threads.toSupervisor({ type: "end", mark });
  }

  close(): Promise<GateCounts> {
    for (const asking of this.#asking.values()) asking.abort();
    this.#closing ??= this.#threads.close();
    return this.#closing;
  }

  #keepAlive(): void {
    const starts = [...[...this.#starting.values()].map(({ start }) => start), ...this.#running.values()];
    this.#threads.keepAlive(starts.some(({ keepsAlive }) => keepsAlive !== false));
  }

  #onStarter(message: Extract<FromStarter, { id: number }>): void {
    const { start, resolve, reject } = this.#starting.get(message.id)!;
    this.#starting.delete(message.id);
    if (message.type === "spawned") {
      this.#running.set(message.pid, start);
      this.#threads.toSupervisor({ type: "watch", pid: message.pid });
      resolve(message.pid);
    } else {
      const { code } = message;
      reject(Object.assign(new Error(message.message), code === undefined ? {} : { code }));
    }
    this.#keepAlive();
  }

  #onSupervisor(message: Exclude<FromSupervisor, { type: "closed" }>): void {
    if (message.type === "exited") return this.#onExit(message.pid, message.status);
    if (message.type === "question") return void this.#ask(message);
    if (message.type === "outside") return void this.#startOutside(message);
    if (message.type === "outside_dropped") return void this.#preparing.delete(message.id);
    if (message.type === "withdrawn") return this.#asking.get(message.id)?.abort();
    const { mark, first, reports, omitted } = message;
    const command = this.#commands.get(mark);
    if (command === undefined) return;
    command.reports.splice(first, reports.length, ...reports);
    command.omitted = omitted;
    const whole = command.parent ?? command;
    const all = [whole, ...whole.outside];
    whole.start.onReports(
      all.flatMap((each) => each.reports),
      all.reduce((sum, each) => sum + each.omitted, 0),
    );
  }

  async #ask({ mark, id, question }: Extract<FromSupervisor, { type: "question" }>): Promise<void> {
    const questions = this.#commands.get(mark)?.start.questions;
    const withdrawn = new AbortController();
    this.#asking.set(id, withdrawn);
    const verdict = (await questions?.ask(question, withdrawn.signal).catch(() => undefined)) ?? "unasked";
    this.#asking.delete(id);
    if (this.#isOpen && !withdrawn.signal.aborted) this.#threads.toSupervisor({ type: "answer", id, verdict });
  }

  async #startOutside({ mark, id, program }: Extract<FromSupervisor, { type: "outside" }>): Promise<void> {
    const command = this.#commands.get(mark);
    const end = (code: number, problem?: string) => {
      if (this.#isOpen) this.#threads.toSupervisor({ type: "outside_ended", id, code, problem });
    };
    if (command?.start.leaving === undefined) return end(NOT_STARTED, "its command has ended");
    this.#preparing.add(id);
    try {
      const outside = await command.start.leaving.prepare(program);
      if (!this.#preparing.delete(id)) {
        outside.onStarted(undefined);
        return end(NOT_STARTED, "its caller has ended");
      }
      await this.#spawnOutside(program, outside, command).then(
        ({ pid, exit }) => {
          outside.onStarted(pid);
          if (this.#isOpen) this.#threads.toSupervisor({ type: "outside_started", id, pid });
          void exit.then(outside.settle).then((code) => {
            if (outside.isSandboxed) this.end(outside.mark);
            end(code);
          });
        },
        (error: unknown) => {
          outside.onStarted(undefined);
          if (outside.isSandboxed) this.end(outside.mark);
          throw error;
        },
      );
    } catch (error) {
      end(NOT_STARTED, messageOf(error));
    }
  }

  async #spawnOutside(program: OutsideProgram, outside: OutsideStart, parent: Started) {
    if (!this.#isOpen) throw new GateError("worker_threads", "it is closed");
    const { onStarted: _, settle: __, ...child } = outside;
    const { rules, questions, onReports, keepsAlive = true } = parent.start;
    let pid: number | undefined;
    let onExit: GatedStart["onExit"] = () => {};
    const exit = new Promise<ExitStatus>((resolve) => {
      onExit = resolve;
    });
    const start: GatedStart = {
      ...child,
      ...{ keepsAlive, questions, onReports, onExit },
      stdio: { passed: program.descriptors },
      rules: keepInside(rules),
      onBroken: () => pid !== undefined && killGroup(pid),
    };
    if (outside.isSandboxed) this.#register(start, program.judged, parent);
    pid = await new Promise<number>((resolve, reject) => {
      const message = this.#addStart({ start, resolve, reject }, program.place);
      outside.isSandboxed ? this.#threads.toStarter(message) : this.#threads.toFreeStarter(message);
    });
    return { pid, exit };
  }

  get #isOpen(): boolean {
    return this.#problem === undefined && this.#closing === undefined;
  }

  #onExit(pid: number, status: number): void {
    const start = this.#running.get(pid);
    this.#running.delete(pid);
    this.#keepAlive();
    start?.onExit(parseStatus(status));
  }

  #onFailed(error: GateError): void {
    this.#problem = error;
    for (const asking of this.#asking.values()) asking.abort();
    for (const { reject } of this.#starting.values()) reject(error);
    this.#starting.clear();
    if (this.#running.size === 0) return;
    for (const { onBroken } of [...this.#running.values()]) onBroken();
    const status = new Int32Array(1);
    const timer = setInterval(() => {
      for (const pid of this.#running.keys()) {
        const isGone = this.#libc.waitpid(pid, status, WNOHANG) === pid && !isStopped(status[0]!);
        if (isGone) this.#onExit(pid, status[0]!);
      }
      if (this.#running.size === 0) clearInterval(timer);
    }, BROKEN_POLL_MS);
  }
}
