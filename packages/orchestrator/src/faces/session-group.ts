import { REMEMBERED_SESSIONS } from "../limits.js";
import type { ToolCallResult } from "../result.js";
import type { ToolCaller, ToolCallerOptions } from "./tool-caller.js";

/** Makes calls, and ends the sessions that they have left running. The oldest of 1,000 sessions is forgotten. */
export class SessionGroup {
  readonly #caller: ToolCaller;
  readonly #running = new Set<number>();

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

  /** Kills the running sessions with their descendants. Resolves when they are gone, or their executor is. */
  async close(): Promise<void> {
    const hasKill = this.#caller.listTools().some(({ name }) => name === "kill_session");
    const ended = [...this.#running].map(async (id) => {
      if (hasKill) await this.#caller.callTool("kill_session", { session_id: id });
      else await this.#caller.callTool("write_stdin", { session_id: id, signal: "kill" });
      this.#running.delete(id);
    });
    await Promise.all(ended);
  }

  #add(id: number): void {
    this.#running.delete(id);
    this.#running.add(id);
    for (const oldest of this.#running) {
      if (this.#running.size <= REMEMBERED_SESSIONS) return;
      this.#running.delete(oldest);
    }
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
