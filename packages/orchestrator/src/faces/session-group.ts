import { evictOldest } from "@codex/values";
import { GROUP_SESSIONS } from "../limits.js";
import type { ToolCallResult } from "../result.js";
import { endSessions } from "./end-sessions.js";
import type { ToolCaller, ToolCallerOptions } from "./tool-caller.js";

/**
 * Makes calls, and ends the sessions that they have left running. Of more than 4,096 sessions, the one that was used the longest time ago is
 * ended.
 */
export class SessionGroup {
  readonly #caller: ToolCaller;
  readonly #running = new Set<number>();
  #isClosed = false;

  constructor(caller: ToolCaller) {
    this.#caller = caller;
  }

  /** As `ToolCaller.callTool`. */
  async callTool(name: string, args: unknown, options: ToolCallerOptions = {}): Promise<ToolCallResult> {
    const { onOutput } = options;
    let session = sessionOf(args);
    const result = await this.#caller.callTool(name, args, {
      ...options,
      onOutput: (output) => {
        // The session of an interrupted call may never become known.
        if (session === undefined) this.#add(output.sessionId);
        session ??= output.sessionId;
        return onOutput?.(output);
      },
    });
    this.#track(result, session);
    return result;
  }

  /**
   * Kills the running sessions with their descendants, and those that calls in progress leave. Resolves when they are gone, or their
   * executor is.
   */
  async close(): Promise<void> {
    this.#isClosed = true;
    const ids = [...this.#running];
    this.#running.clear();
    await endSessions(this.#caller, ids);
  }

  #add(id: number): void {
    if (this.#isClosed) return void endSessions(this.#caller, [id]).catch(() => {}); // a call that has outlived the group
    this.#running.delete(id);
    this.#running.add(id);
    const evicted = evictOldest(this.#running, GROUP_SESSIONS);
    if (evicted.length > 0) void endSessions(this.#caller, evicted).catch(() => {}); // it may have ended
  }

  #track({ structured }: ToolCallResult, session: number | undefined): void {
    if (structured === undefined || !("outcome" in structured)) return;
    const { outcome } = structured;
    const isRunning =
      typeof outcome === "object" && outcome !== null && "kind" in outcome && outcome.kind === "running";
    const id = "processId" in structured ? structured.processId : undefined;
    if (isRunning && typeof id === "number") this.#add(id);
    else if (session !== undefined && !isRunning) this.#running.delete(session);
  }
}

function sessionOf(args: unknown): number | undefined {
  const id = typeof args === "object" && args !== null && "session_id" in args ? args.session_id : undefined;
  return typeof id === "number" ? id : undefined;
}
