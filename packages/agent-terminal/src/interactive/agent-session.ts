import type { Thread } from "@codex/agent";
import type { ThreadRow } from "../threads/list-threads.js";

/** A command that still runs after its call. */
export interface RunningSession {
  readonly sessionId: number;
  readonly command: string;
}

/** The agent of an interactive conversation. */
export interface AgentSession {
  /** Names and values for display: directory, environment, model … */
  describe(): Readonly<Record<string, string | undefined>>;
  /** The current thread; undefined until its first turn. */
  readonly thread: Thread | undefined;
  /** Returns the current thread, or creates it. @throws Error */
  openThread(): Promise<Thread>;
  /** Closes the thread; the next turn starts a new one. */
  leaveThread(): Promise<void>;
  /** Resumes a saved thread; on failure the current one stays. @throws Error */
  resumeThread(id: string): Promise<Thread>;
  /** Saved threads of this directory, most recent first. */
  listThreads(): Promise<readonly ThreadRow[]>;
  /** Changes the model, from the next turn. @throws Error */
  setModel(name: string): Promise<void>;
  /** Describes approval policy and sandbox. */
  describeApprovals(): string;
  /** Returns the git diff of the directory, read by its executor. @throws Error */
  diff(signal: AbortSignal): Promise<string>;
  /** Running commands; undefined when the executor does not respond. */
  listSessions(): Promise<readonly RunningSession[] | undefined>;
  /** Ends a running command; resolves to a predicate for display, such as `was ended`. */
  endSession(id: number): Promise<string>;
  /** Serves the live view, and shows its links. @throws Error */
  openView(show: (line: string) => void): Promise<void>;
  /** Closes the session. */
  close(): Promise<void>;
}
