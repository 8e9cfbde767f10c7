import {
  compileGate,
  type GateRules,
  type ProgramQuestion,
  type ProgramReport,
  type ProgramVerdict,
  type QuestionLimits,
} from "@codex/exec-gate";
import type { Libc } from "../libc/libc.js";
import { isStopped, parseStatus } from "../process/exit-status.js";
import type { ChildStart } from "../process/spawn.js";
import { GateError } from "./gate-error.js";
import { type GateCounts, GateThreads } from "./gate-threads.js";
import type { FromStarter, FromSupervisor } from "./messages.js";

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
  /** Directories in which the command can change nothing. */
  trusted: readonly string[];
  /** Absent: a program that a rule asks about is refused. */
  questions?: GateQuestions | undefined;
  /** Called when there is more to report, with all so far, and how many there were that are not reported one by one. */
  onReports(reports: readonly ProgramReport[], omitted: number): void;
  /** Nothing judges its programs any more, and none is started: it is to be ended. */
  onBroken(): void;
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

interface Starting {
  start: GatedStart;
  resolve(pid: number): void;
  reject(error: Error): void;
}

/** A gate whose abilities are not known yet. */
export class ThreadedGate implements Gate {
  readonly listening: Promise<void>;
  readonly #libc: Libc;
  readonly #threads: GateThreads;
  readonly #starting = new Map<number, Starting>();
  /** By pid. */
  readonly #running = new Map<number, GatedStart>();
  readonly #commands = new Map<bigint, { start: GatedStart; reports: ProgramReport[] }>();
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
      const { mark, rules, isSandboxed, wrappers, trusted, questions: asked, ...rest } = start;
      const { onReports: _, onBroken: __, onExit: ___, ...child } = rest;
      const questions = asked && { most: asked.most, timeoutMs: asked.timeoutMs };
      const { file, argv } = child;
      const command = {
        mark,
        rules: JSON.stringify(rules),
        file,
        argv,
        isSandboxed,
        wrappers,
        trusted,

        questions,
      };
      this.#threads.toSupervisor({ type: "command", ...command });
      this.#commands.set(mark, { start, reports: [] });
      const id = this.#nextId++;
      this.#starting.set(id, { start, resolve, reject });
      this.#keepAlive();
      this.#threads.toStarter({ type: "spawn", id, mark, start: child });
    });
  }

  end(mark: bigint): void {
    this.#commands.delete(mark);
    if (this.#problem === undefined && this.#closing === undefined) this.#threads.toSupervisor({ type: "end", mark });
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
    if (message.type === "withdrawn") return this.#asking.get(message.id)?.abort();
    const { mark, first, reports, omitted } = message;
    const command = this.#commands.get(mark);
    if (command === undefined) return;
    command.reports.splice(first, reports.length, ...reports);
    command.start.onReports(command.reports, omitted);
  }

  async #ask({ mark, id, question }: Extract<FromSupervisor, { type: "question" }>): Promise<void> {
    const questions = this.#commands.get(mark)?.start.questions;
    const withdrawn = new AbortController();
    this.#asking.set(id, withdrawn);
    const verdict = (await questions?.ask(question, withdrawn.signal).catch(() => undefined)) ?? "unasked";
    this.#asking.delete(id);
    const isOpen = this.#problem === undefined && this.#closing === undefined && !withdrawn.signal.aborted;
    if (isOpen) this.#threads.toSupervisor({ type: "answer", id, verdict });
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
