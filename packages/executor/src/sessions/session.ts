import type { Clock } from "@codex/clock";
import { DEFAULT_TERMINAL_SIZE, type ExecProcess, type LogHold, type ProcessStdio } from "@codex/exec-backend";
import type { NetworkDenial, ProcessOutcome, ProgramReport, TerminalSize, WhenFull } from "@codex/executor-protocol";
import { LiveOutputSender, type LiveReceiver } from "../output/live-output.js";
import { explainMissing, type Retention } from "../output/retention.js";
import { SizeHistory } from "../screen/size-history.js";
import { SessionInput } from "./session-input.js";
import type { SessionQuestions } from "./session-questions.js";
import type { SessionReports } from "./session-reports.js";
import type { StartupNote } from "./shell-startup.js";
import { TurnQueue } from "./turn-queue.js";

export interface SessionStart {
  id: number;
  process: ExecProcess;
  command: readonly string[];
  cwd: string;
  stdio: ProcessStdio;
  clock: Clock;
  receiver: LiveReceiver;
  retention: Retention;
  whenFull?: WhenFull | undefined;
  client?: string | undefined;
  startup?: StartupNote | undefined;
  questions: SessionQuestions;
  reports: SessionReports | undefined;
}

/** The state of a session at one moment. */
export interface SessionState {
  outcome: ProcessOutcome;
  /** The output is complete: `end` is final. */
  closed: boolean;
  /** Offset of the byte after the last one that was written. */
  end: number;
}

/** Times are milliseconds on the clock. `quietEnd`: end of the log when there was no output for a while after the exit, with the output still open. */
type Phase =
  | { readonly kind: "running" }
  | { readonly kind: "exited"; readonly at: number; readonly quietEnd: number | undefined };

/** A process, and how much of it calls have reported. */
export class Session {
  readonly id: number;
  readonly process: ExecProcess;
  readonly command: readonly string[];
  readonly cwd: string;
  readonly stdio: ProcessStdio;
  /** The client that started it; undefined for an orchestrator without several clients. */
  readonly client: string | undefined;
  /** How its shell was started; undefined when the request did not ask for a snapshot. */
  readonly startup: StartupNote | undefined;
  readonly live: LiveOutputSender;
  /** Sizes of its terminal; undefined on pipes. */
  readonly sizes: SizeHistory | undefined;
  readonly turns = new TurnQueue();
  readonly input = new SessionInput();
  /** Of its programs to the orchestrator. */
  readonly questions: SessionQuestions;
  readonly reports: SessionReports | undefined;
  /** Whether it stays when its orchestrator goes. */
  isDetached = false;
  #phase: Phase = { kind: "running" };
  /** What results have reported. */
  #reported = {
    cursor: 0,
    end: 0,
    outcome: false,
    wasCut: false,
    programs: 0,
    programsBefore: 0,
    denied: NONE,
    deniedBefore: NONE,
  };
  #ending: { readonly note: string; readonly timedOut: boolean } | undefined;
  #isFollowed = false;
  #users = 0;
  #isEstablished = false;
  readonly #explainEviction: () => string;
  readonly #clock: Clock;
  /** Pauses the program while its output is not received. */
  readonly #hold: LogHold | undefined;
  readonly #pauseBytes: number | undefined;
  readonly #receiver: LiveReceiver;
  readonly #memoryBytes: number;
  /** Number of results that may have to be sent again, with their output. */
  #retained = 0;
  #disposing = false;
  readonly #listeners = new Set<() => void>();

  constructor(start: SessionStart) {
    this.id = start.id;
    this.process = start.process;
    this.command = start.command;
    this.cwd = start.cwd;
    this.stdio = start.stdio;
    this.startup = start.startup;
    this.client = start.client;
    this.questions = start.questions;
    this.reports = start.reports;
    const { stdio, process, retention, receiver } = start;
    this.sizes = stdio.kind === "pty" ? new SizeHistory(stdio.size ?? DEFAULT_TERMINAL_SIZE) : undefined;
    this.live = new LiveOutputSender({
      log: process.log,
      processId: start.id,
      receiver,
      getWindow: () => (process.log.spillProblem === undefined ? retention.windowBytes : retention.memoryWindowBytes),
      pinsUnwritten: retention.pinsUnwritten,
      onReceived: () => this.release(),
    });
    this.#explainEviction = () => explainMissing(process.log, retention, start.whenFull);
    this.#pauseBytes = retention.pauseBytes;
    this.#hold = this.#pauseBytes === undefined ? undefined : process.log.hold(0, this.#pauseBytes);
    this.#receiver = receiver;
    this.#memoryBytes = retention.log.headBytes + retention.log.tailBytes;
    this.#clock = start.clock;
    void this.process.exited.then(() => {
      this.#phase = { kind: "exited", at: this.#clock.now(), quietEnd: undefined };
      this.#notify();
    });
    void this.process.closed.then(() => this.#notify());
  }

  /** Whether it runs on another host. */
  get isRemote(): boolean {
    return this.process.pid === undefined;
  }

  /** Why evicted output was not retained, as the end of a sentence. */
  get evictionReason(): string {
    return this.#explainEviction();
  }

  get state(): SessionState {
    const { outcome, log } = this.process;
    return { outcome, closed: log.complete && outcome.kind !== "running", end: log.end };
  }

  /** Time of its exit, milliseconds on the clock. */
  get exitedAt(): number | undefined {
    return this.#phase.kind === "exited" ? this.#phase.at : undefined;
  }

  /** End of the log when there was no output for a while after the exit, with the output still open. */
  get quietEnd(): number | undefined {
    return this.#phase.kind === "exited" ? this.#phase.quietEnd : undefined;
  }

  noteQuiet(end: number): void {
    if (this.#phase.kind === "exited") this.#phase = { ...this.#phase, quietEnd: end };
  }

  /** Offset up to which output was returned by a result. */
  get cursor(): number {
    return this.#reported.cursor;
  }

  /** End of the log at the time of the last result. */
  get seenEnd(): number {
    return this.#reported.end;
  }

  /** Whether a result has reported how it ended. */
  get outcomeReported(): boolean {
    return this.#reported.outcome;
  }

  /** Whether its output is wanted after its end was reported: a result has left some out, or a reader has not seen the end. */
  get isWanted(): boolean {
    return this.#reported.wasCut || this.#isFollowed;
  }

  /** A reader that consumes nothing has read it, and has seen its end or has not. */
  noteFollower(hasSeenEnd: boolean): void {
    this.#isFollowed = !hasSeenEnd;
  }

  /** Bytes of output that no result has covered. */
  get unread(): number {
    return this.process.log.end - this.cursor;
  }

  /** Programs that did not run as they were called, and that no result has told. */
  get untoldPrograms(): readonly ProgramReport[] {
    return this.#programs.slice(this.#reported.programs);
  }

  get #programs(): readonly ProgramReport[] {
    return this.process.gate?.kind === "held" ? this.process.gate.reports : [];
  }

  /** Hosts that it was not let to, and that no result has told, or not how often. */
  get untoldHosts(): readonly NetworkDenial[] {
    const { denied } = this.#reported;
    return this.#denied.flatMap((denial) => {
      const count = denial.count - (denied.get(keyOf(denial)) ?? 0);
      return count === 0 ? [] : [{ ...denial, count }];
    });
  }

  get #denied(): readonly NetworkDenial[] {
    return this.process.network?.denied ?? [];
  }

  /** A result covers its output up to `to`, and this state. `isCut`: not all of it was returned. */
  noteResult({ to, state, isCut }: { to: number; state: SessionState; isCut: boolean }): void {
    this.reports?.flush();
    const { outcome, wasCut, programs: programsBefore, denied: deniedBefore } = this.#reported;
    const isEnd = state.outcome.kind !== "running";
    const covered = { cursor: to, end: state.end, outcome: outcome || isEnd, wasCut: wasCut || isCut };
    const denied = new Map(this.#denied.map((denial) => [keyOf(denial), denial.count]));
    this.#reported = { ...covered, programs: this.#programs.length, programsBefore, denied, deniedBefore };
    this.release();
  }

  /** The result that covered its output up to `to` was not received. False if there is a later one. */
  takeBackResult({ from, to }: { from: number; to: number }): boolean {
    if (this.cursor !== to) return false;
    const { programsBefore: programs, deniedBefore: denied } = this.#reported;
    this.#reported = { ...this.#reported, cursor: from, outcome: false, programs, denied };
    return true;
  }

  /** Why this executor ended it. */
  get endNote(): string | undefined {
    return this.#ending?.note;
  }

  /** Whether its time limit ended it. */
  get timedOut(): boolean {
    return this.#ending?.timedOut ?? false;
  }

  /** This executor ends it. The first reason is told. */
  noteEnding(note: string, { timedOut = false } = {}): void {
    this.#ending = { note: this.#ending?.note ?? note, timedOut: timedOut || this.timedOut };
  }

  /** Whether its first call has completed. */
  get isEstablished(): boolean {
    return this.#isEstablished;
  }

  establish(): void {
    this.#isEstablished = true;
  }

  /** Whether calls in progress use it. */
  get isUsed(): boolean {
    return this.#users > 0;
  }

  /** A call uses it. Returns a function that ends the use, to be called once. */
  use(): () => void {
    this.#users += 1;
    return () => {
      this.#users -= 1;
    };
  }

  /** Offset at which the program is paused until a result returns its output; a call need not wait beyond it. */
  get pausedAt(): number | undefined {
    return this.#pauseBytes === undefined ? undefined : this.cursor + this.#pauseBytes;
  }

  /** Resumes a paused program as far as its output was received. */
  release(): void {
    this.#hold?.move(this.#receiver.acknowledges ? this.live.received : Math.max(this.cursor, this.live.received));
  }

  get isRetained(): boolean {
    return this.#retained > 0;
  }

  /** Bytes of its output in memory. */
  get bytesInMemory(): number {
    return Math.min(this.process.log.end, this.#memoryBytes);
  }

  /** Keeps the output readable until the result that covers it was received. Returns a function that releases it. */
  retain(): () => void {
    this.#retained += 1;
    let isRetained = true;
    return () => {
      if (!isRetained) return;
      isRetained = false;
      this.#retained -= 1;
      if (this.#disposing) this.dispose();
    };
  }

  /** Releases the output, once no result retains it. Output in memory stays readable. */
  dispose(): void {
    this.#disposing = true;
    if (this.#retained === 0) this.process.dispose();
  }

  /** Calls `listener` when the process has exited and when its output is complete. Returns a function that stops it. */
  watch(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Records the new size of the terminal. */
  resized(size: TerminalSize): void {
    this.sizes?.add({ offset: this.process.log.end, at: Math.floor(this.#clock.now()), size });
  }

  #notify(): void {
    for (const listener of [...this.#listeners]) listener();
  }
}

const NONE: ReadonlyMap<string, number> = new Map();

const keyOf = ({ host, port, protocol, reason }: NetworkDenial): string =>
  JSON.stringify([host, port, protocol, reason]);
