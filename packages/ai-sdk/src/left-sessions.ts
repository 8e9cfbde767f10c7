import type { ToolCallResult } from "@codex/orchestrator";
import { REMEMBERED_SESSIONS } from "./limits.js";

/** The sessions that calls have left running. */
export class LeftSessions {
  readonly #ids = new Set<number>();

  get ids(): number[] {
    return [...this.#ids];
  }

  /** A session with output runs, until a result says that it has ended. */
  seen(id: number): void {
    this.#ids.delete(id);
    this.#ids.add(id);
    for (const oldest of this.#ids) {
      if (this.#ids.size <= REMEMBERED_SESSIONS) return;
      this.#ids.delete(oldest);
    }
  }

  /** @param touched the session that the call was seen to have, or named */
  ended({ structured }: ToolCallResult, touched: number | undefined): void {
    if (structured === undefined || !("outcome" in structured)) return;
    const { outcome } = structured;
    const isRunning =
      typeof outcome === "object" && outcome !== null && "kind" in outcome && outcome.kind === "running";
    const id = "processId" in structured ? structured.processId : undefined;
    if (isRunning && typeof id === "number") this.seen(id);
    else if (touched !== undefined) this.#ids.delete(touched);
  }

  delete(id: number): void {
    this.#ids.delete(id);
  }
}
