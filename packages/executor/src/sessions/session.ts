import type { Clock } from "@codex/clock";
import { DEFAULT_TERMINAL_SIZE, type ExecProcess, type LogHold, type ProcessStdio } from "@codex/exec-backend";
import type { ProcessOutcome, TerminalSize, WhenFull } from "@codex/executor-protocol";
import { LiveOutputSender, type LiveReceiver } from "../output/live-output.js";
import { explainEviction, type Retention } from "../output/retention.js";
import type { Screen } from "../screen/screen.js";
import { SizeHistory } from "../screen/size-history.js";
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
}

/** What is known of a session at one moment. */
export interface SessionState {
  outcome: ProcessOutcome;
  /** The output is complete: `end` is final. */
  closed: boolean;
  /** Offset of the byte after the last one that was written. */
  end: number;
}

/** A process and what its calls have seen of it. */
export class Session {
  readonly id: number;
  readonly process: ExecProcess;
  readonly command: readonly string[];
  readonly cwd: string;
  readonly stdio: ProcessStdio;
  /** On whose behalf it was started; undefined where an orchestrator has one client. */
  readonly client: string | undefined;
  /** How its shell was started; undefined when the request did not ask for a snapshot. */
  readonly startup: StartupNote | undefined;
  readonly live: LiveOutputSender;
  /** Of its terminal; undefined on pipes. */
  readonly sizes: SizeHistory | undefined;
  readonly turns = new TurnQueue();
  /** Offset up to which output was answered. */
  cursor = 0;
  /** Where the log ended when it was last answered. */
  seenEnd = 0;
  /** Calls under way that use it. */
  users = 0;
  /** It has outlived its first call. */
  established = false;
  /** An answer has reported how it ended. */
  outcomeReported = false;
  /** An answer has left out output that can still be read. */
  wasCut = false;
  /** Why this executor ended it. */
  endNote: string | undefined;
  /** Its time limit ended it. */
  timedOut = false;
  /** Bytes of input that the program has not read yet. */
  waitingInput = 0;
  /** End of the log once it was quiet for a while after the exit, with the output still held open. */
  quietEnd: number | undefined;
  /** Milliseconds, when its end was seen. */
  exitedAt: number | undefined;
  /** Its rendered terminal, while it is kept. */
  screen: Screen | undefined;
  readonly #explainEviction: () => string;
  readonly #clock: Clock;
  /** Pauses the program while its output is not received. */
  readonly #hold: LogHold | undefined;
  readonly #pauseBytes: number | undefined;
  readonly #receiver: LiveReceiver;
  readonly #memoryBytes: number;
  /** Answers that may have to be given again, with their output. */
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
    this.#explainEviction = () => explainEviction(retention, start.whenFull, process.log.spillProblem);
    this.#pauseBytes = retention.pauseBytes;
    this.#hold = this.#pauseBytes === undefined ? undefined : process.log.hold(0, this.#pauseBytes);
    this.#receiver = receiver;
    this.#memoryBytes = retention.log.headBytes + retention.log.tailBytes;
    this.#clock = start.clock;
    void this.process.exited.then(() => {
      this.exitedAt = this.#clock.now();
      this.#notify();
    });
    void this.process.closed.then(() => this.#notify());
  }

  /** It runs on another host: what is known of it comes over a network. */
  get isRemote(): boolean {
    return this.process.pid === undefined;
  }

  /** Why evicted output was not kept, as the end of a sentence. */
  get evictionReason(): string {
    return this.#explainEviction();
  }

  get state(): SessionState {
    const { outcome, log } = this.process;
    return { outcome, closed: log.complete && outcome.kind !== "running", end: log.end };
  }

  /** Bytes that no answer has covered. */
  get unread(): number {
    return this.process.log.end - this.cursor;
  }

  /** Offset where the program is paused until an answer takes its output: waiting for more is no use there. */
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

  /** Of its output. */
  get bytesInMemory(): number {
    return Math.min(this.process.log.end, this.#memoryBytes);
  }

  /** Keeps the output readable until the answer that covers it was received. Returns a function that releases it. */
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

  /** Releases what is held for reading, once no answer retains it. Output in memory stays readable. */
  dispose(): void {
    this.screen = undefined;
    this.#disposing = true;
    if (this.#retained === 0) this.process.dispose();
  }

  /** Calls `listener` when the process has exited and when its output is complete. Returns a function that stops it. */
  watch(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The terminal has this size from here on. */
  resized(size: TerminalSize): void {
    this.sizes?.add({ offset: this.process.log.end, at: Math.floor(this.#clock.now()), size });
  }

  #notify(): void {
    for (const listener of [...this.#listeners]) listener();
  }
}
