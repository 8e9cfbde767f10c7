import type { Clock } from "@codex/clock";
import { DEFAULT_TERMINAL_SIZE, type ExecProcess, type LogHold, type ProcessStdio } from "@codex/exec-backend";
import type { ProcessOutcome, TerminalSize, WhenFull } from "@codex/executor-protocol";
import { LiveOutputSender, type LiveReceiver } from "../output/live-output.js";
import { explainMissing, type Retention } from "../output/retention.js";
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

/** The state of a session at one moment. */
export interface SessionState {
  outcome: ProcessOutcome;
  /** The output is complete: `end` is final. */
  closed: boolean;
  /** Offset of the byte after the last one that was written. */
  end: number;
}

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
  /** Offset up to which output was returned by a result. */
  cursor = 0;
  /** End of the log at the time of the last result. */
  seenEnd = 0;
  /** Number of calls in progress that use it. */
  users = 0;
  /** Its first call has completed. */
  established = false;
  /** A result has reported how it ended. */
  outcomeReported = false;
  /** A result has left out output that can still be read. */
  wasCut = false;
  /** Why this executor ended it. */
  endNote: string | undefined;
  /** Its time limit ended it. */
  timedOut = false;
  /** Bytes of input that the program has not read yet. */
  waitingInput = 0;
  /** Bytes written to its terminal since the last end of a line. */
  openLineBytes = 0;
  /** End of the log when there was no output for a while after the exit, with the output still open. */
  quietEnd: number | undefined;
  /** Time of its exit, milliseconds on the clock. */
  exitedAt: number | undefined;
  /** Its rendered terminal, while it is retained. */
  screen: Screen | undefined;
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
      this.exitedAt = this.#clock.now();
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

  /** Bytes of output that no result has covered. */
  get unread(): number {
    return this.process.log.end - this.cursor;
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
    this.screen = undefined;
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
