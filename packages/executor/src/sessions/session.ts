import { DEFAULT_TERMINAL_SIZE, type ExecProcess, type ProcessStdio } from "@codex/exec-server";
import type { ProcessOutcome, TerminalSize } from "@codex/executor-protocol";
import type { Clock } from "../clock.js";
import type { Screen } from "../screen/screen.js";
import type { LiveOutput } from "./live-output.js";
import { SizeHistory } from "./size-history.js";
import { TurnQueue } from "./turn-queue.js";

export interface SessionStart {
  id: number;
  process: ExecProcess;
  command: readonly string[];
  cwd: string;
  stdio: ProcessStdio;
  clock: Clock;
  live: LiveOutput;
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
  readonly live: LiveOutput;
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
  /** An answer has told how it ended. */
  outcomeTold = false;
  /** An answer has left out output that can still be read. */
  wasCut = false;
  /** Why this executor ended it. */
  endNote: string | undefined;
  /** Bytes of input that the program has not read yet. */
  waitingInput = 0;
  /** Milliseconds, when its end was seen. */
  exitedAt: number | undefined;
  /** Its terminal as it looks, while somebody asks for it. */
  screen: Screen | undefined;
  readonly #clock: Clock;
  readonly #listeners = new Set<() => void>();

  constructor(start: SessionStart) {
    this.id = start.id;
    this.process = start.process;
    this.command = start.command;
    this.cwd = start.cwd;
    this.stdio = start.stdio;
    this.live = start.live;
    const { stdio } = start;
    this.sizes = stdio.kind === "pty" ? new SizeHistory(stdio.size ?? DEFAULT_TERMINAL_SIZE) : undefined;
    this.#clock = start.clock;
    void this.process.exited.then(() => {
      this.exitedAt = this.#clock.now();
      this.#notify();
    });
    void this.process.closed.then(() => this.#notify());
  }

  get state(): SessionState {
    const { outcome, log } = this.process;
    return { outcome, closed: log.complete && outcome.kind !== "running", end: log.end };
  }

  /** Bytes that no answer has covered. */
  get unread(): number {
    return this.process.log.end - this.cursor;
  }

  /** Calls `listener` when the process has exited and when its output is complete; the answer ends that. */
  watch(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The terminal has this size from here on. */
  resized(size: TerminalSize): void {
    this.sizes?.add({ offset: this.process.log.end, at: Math.floor(this.#clock.now()), size });
  }

  /** Gives back what is held for reading. What is in memory stays readable. */
  dispose(): void {
    this.screen = undefined;
    this.process.dispose();
  }

  #notify(): void {
    for (const listener of [...this.#listeners]) listener();
  }
}
