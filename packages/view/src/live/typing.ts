import type { Orchestrator } from "@codex/orchestrator";
import { MAX_INPUT_CHARACTERS } from "../limits.js";
import { placeOf } from "./session-reader.js";
import type { ShownSession } from "./sessions.js";

/** Writes typed input to sessions, in order. Input that arrives during a write is written together afterwards. */
export class Typing {
  readonly #orchestrator: Pick<Orchestrator, "callTool" | "listEnvironments">;
  readonly #waiting = new Map<ShownSession, string>();
  readonly #busy = new Set<ShownSession>();

  constructor(orchestrator: Pick<Orchestrator, "callTool" | "listEnvironments">) {
    this.#orchestrator = orchestrator;
  }

  /** @param onProblem called with the reason when nothing was written */
  type(session: ShownSession, text: string, onProblem: (problem: string) => void): void {
    const waiting = this.#waiting.get(session) ?? "";
    if (waiting.length + text.length > MAX_INPUT_CHARACTERS) {
      return onProblem(`The program does not read: ${waiting.length} characters wait for it already.`);
    }
    this.#waiting.set(session, waiting + text);
    if (!this.#busy.has(session)) void this.#writeAll(session, onProblem);
  }

  async #writeAll(session: ShownSession, onProblem: (problem: string) => void): Promise<void> {
    this.#busy.add(session);
    const { environment, sessionId } = session.entity;
    for (let text = this.#take(session); text !== undefined; text = this.#take(session)) {
      const args = { session_id: sessionId, chars: text, ...placeOf(this.#orchestrator, environment) };
      const result = await this.#orchestrator.callTool("write_stdin", args, { concurrent: true });
      if (result.isError) onProblem(`Nothing was written: ${result.text}`);
    }
    this.#busy.delete(session);
  }

  #take(session: ShownSession): string | undefined {
    const text = this.#waiting.get(session);
    this.#waiting.delete(session);
    return text;
  }
}
