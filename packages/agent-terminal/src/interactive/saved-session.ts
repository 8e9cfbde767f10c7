import type { Agent, Thread } from "@codex/agent";
import type { NewThread, OpenedThread, ThreadFile, ThreadMeta, ThreadStore } from "@codex/agent/node";
import { type Clock, waitAtMost } from "@codex/clock";
import type { Orchestrator } from "@codex/orchestrator";
import { END_SESSION_MS, LISTED_THREADS, SESSIONS_MS } from "../limits.js";
import { listThreads } from "../threads/list-threads.js";
import type { AgentSession, RunningSession } from "./agent-session.js";

/** Options of {@link createSavedSession}. */
export interface SavedSessionOptions {
  /** Creates an agent with this model; undefined: the configured one. */
  readonly createAgent: (model: string | undefined) => Agent;
  readonly model: string;
  readonly store: ThreadStore;
  /** Properties of each new thread. */
  readonly newThread: NewThread;
  /** Threads are not saved. */
  readonly ephemeral: boolean;
  /** Initial thread. */
  readonly opened: OpenedThread | undefined;
  readonly orchestrator: Pick<Orchestrator, "callTool">;
  /** Names and values for display, besides model and file. */
  readonly facts: Readonly<Record<string, string | undefined>>;
  readonly approvals: string;
  readonly diff: (signal: AbortSignal) => Promise<string>;
  /** Serves the live view, and shows its links. @throws Error */
  readonly openView?: (show: (line: string) => void) => Promise<void>;
  readonly close: () => Promise<void>;
  readonly clock: Pick<Clock, "after">;
}

/** Creates a session whose threads are saved in files. Takes ownership of `opened`, even on failure. */
export async function createSavedSession(options: SavedSessionOptions): Promise<AgentSession> {
  const { store, orchestrator, newThread } = options;
  let model = options.model;
  let agent = options.createAgent(undefined);
  let thread: Thread | undefined;
  let file: ThreadFile | undefined;

  const take = async (opened: OpenedThread): Promise<Thread> => {
    try {
      const resumed = await agent.resumeThread(opened.saved, { recorder: opened.file });
      await thread?.end("resume");
      await file?.close();
      file = opened.file;
      thread = resumed;
      return resumed;
    } catch (error) {
      await opened.file.close();
      throw error;
    }
  };
  if (options.opened !== undefined) await take(options.opened);

  const listSessions = async (): Promise<RunningSession[] | undefined> => {
    const result = await waitAtMost(options.clock, SESSIONS_MS, orchestrator.callTool("list_sessions", {}));
    if (result === undefined) return undefined;
    const listed: unknown = result.isError
      ? undefined
      : (result.structured as { sessions?: unknown } | undefined)?.sessions;
    return Array.isArray(listed) ? listed.flatMap(readSession) : [];
  };

  return {
    describe: () => ({ ...options.facts, model, "kept in": file?.path }),
    get thread() {
      return thread;
    },
    async openThread() {
      if (thread !== undefined) return thread;
      if (options.ephemeral) {
        thread = agent.startThread();
        return thread;
      }
      const created = await store.create(newThread);
      file = created.file;
      thread = agent.startThread({ id: created.id, recorder: created.file });
      return thread;
    },
    async openView(show) {
      if (options.openView === undefined) return show("there is no live view here");
      await options.openView(show);
    },
    async leaveThread() {
      await thread?.end("clear");
      thread = undefined;
      await file?.close();
      file = undefined;
    },
    async resumeThread(id) {
      const { meta } = await store.find(id);
      if (thread?.id === meta.id) return thread;
      checkPlace(meta, newThread);
      return take(await store.open(meta.id));
    },
    listThreads: () => listThreads(store, { cwd: newThread.cwd, limit: LISTED_THREADS }),
    async setModel(name) {
      agent = options.createAgent(name);
      model = name;
      if (thread === undefined) return;
      const { id, items, usage, lastTokens } = thread;
      const saved = { id, items, usage, lastTokens };
      thread = await agent.resumeThread(saved, { begun: true, ...(file === undefined ? {} : { recorder: file }) });
    },
    describeApprovals: () => options.approvals,
    diff: options.diff,
    listSessions,
    async endSession(id) {
      const killed = orchestrator.callTool("kill_session", { session_id: id });
      const result = await waitAtMost(options.clock, END_SESSION_MS, killed);
      if (result === undefined) return "may still run: the executor does not respond";
      if (result.isError) return result.text.split("\n", 1)[0] ?? "";
      const { gone } = (result.structured ?? {}) as { gone?: unknown };
      return gone === true ? "was ended" : "was ended, but something that it started is still there";
    },
    async close() {
      await thread?.end();
      await file?.close();
      await options.close();
    },
  };
}

/**
 * A thread continues where its commands ran: its paths mean something else in another directory or environment.
 * @throws Error naming both places
 */
function checkPlace({ id, environment, cwd }: ThreadMeta, here: NewThread): void {
  const isElsewhere = environment !== undefined && here.environment !== undefined && environment !== here.environment;
  if (!isElsewhere && (cwd === "" || cwd === here.cwd)) return;
  const there = isElsewhere ? `environment \`${environment}\`` : cwd;
  const now = isElsewhere ? `environment \`${here.environment}\`` : here.cwd;
  throw new Error(
    `the commands of this thread ran in ${there}, and this conversation is in ${now}; codex resume ${id} continues it there`,
  );
}

/** Reads a running session from an executor's list. */
function readSession(listed: unknown): RunningSession[] {
  if (typeof listed !== "object" || listed === null) return [];
  const { sessionId, command, state }: { sessionId?: unknown; command?: unknown; state?: unknown } = listed;
  if (typeof sessionId !== "number" || state !== "running") return [];
  return [{ sessionId, command: typeof command === "string" ? command : "" }];
}
