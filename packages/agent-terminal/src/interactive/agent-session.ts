import type { Thread } from "@codex/agent";
import type { ThreadRow } from "../threads/list-threads.js";

/** A command that outlived its call. */
export interface RunningSession {
  readonly sessionId: number;
  readonly command: string;
}

/** The agent that a conversation is held with. */
export interface AgentSession {
  /** Names and values for a person: directory, environment, model … */
  describe(): Readonly<Record<string, string | undefined>>;
  /** The current thread; undefined until its first turn. */
  readonly thread: Thread | undefined;
  /** The current thread, which is made now where there is none. @throws Error */
  openThread(): Promise<Thread>;
  /** The next turn begins a new thread. */
  leaveThread(): Promise<void>;
  /** Goes on with a kept thread; the current one stays when that fails. @throws Error */
  resumeThread(id: string): Promise<Thread>;
  /** Kept threads of this directory, the one that was written last first. */
  listThreads(): Promise<readonly ThreadRow[]>;
  /** Takes another model from the next turn on. @throws Error */
  setModel(name: string): Promise<void>;
  /** What is asked before it runs, in words. */
  describeApprovals(): string;
  /** What has changed in the repository of the directory, as its executor tells. @throws Error */
  diff(signal: AbortSignal): Promise<string>;
  /** Commands that still run; undefined when the executor does not answer. */
  listSessions(): Promise<readonly RunningSession[] | undefined>;
  /** Ends such a command; resolves with what became of it, as the end of a sentence. */
  endSession(id: number): Promise<string>;
  /** Ends everything. */
  close(): Promise<void>;
}
