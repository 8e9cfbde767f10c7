import type { Orchestrator } from "@codex/orchestrator";
import type { Board } from "./board.js";

/** Shows the environments of an orchestrator, and removes those that are gone. */
export class Environments {
  readonly #orchestrator: Pick<Orchestrator, "listEnvironments">;
  readonly #board: Board;
  #shown = new Map<string, string>();

  constructor(orchestrator: Pick<Orchestrator, "listEnvironments">, board: Board) {
    this.#orchestrator = orchestrator;
    this.#board = board;
  }

  update(): void {
    const now = new Map<string, string>();
    for (const { id, primary, status, reason, cwd, os } of this.#orchestrator.listEnvironments()) {
      const entity = { kind: "environment", id, primary, status, reason, cwd, os } as const;
      const text = JSON.stringify(entity);
      now.set(id, text);
      if (this.#shown.get(id) !== text) this.#board.set(entity);
    }
    for (const id of this.#shown.keys()) {
      if (!now.has(id)) this.#board.drop(`environment ${id}`);
    }
    this.#shown = now;
  }
}
