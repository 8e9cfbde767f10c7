import { describeUse } from "@codex/executor-protocol";
import type { Orchestrator } from "@codex/orchestrator";
import { placeOf } from "./session-reader.js";
import type { Sessions } from "./sessions.js";

/** Finds sessions without an observed call: of other orchestrators, or from before the view was attached. */
export class SessionList {
  readonly #orchestrator: Pick<Orchestrator, "callTool" | "listEnvironments">;
  readonly #sessions: Sessions;
  readonly #now: () => number;
  #isUpdating = false;

  constructor(
    orchestrator: Pick<Orchestrator, "callTool" | "listEnvironments">,
    sessions: Sessions,
    now: () => number,
  ) {
    this.#orchestrator = orchestrator;
    this.#sessions = sessions;
    this.#now = now;
  }

  /** Asks all connected environments. Never rejects. */
  async update(): Promise<void> {
    if (this.#isUpdating) return;
    this.#isUpdating = true;
    try {
      const ready = this.#orchestrator.listEnvironments().filter(({ status }) => status === "ready");
      await Promise.all(ready.map(({ id }) => this.#updateOne(id)));
    } finally {
      this.#isUpdating = false;
    }
  }

  async #updateOne(environment: string): Promise<void> {
    const own = new Set((await this.#list(environment, "own")).map(({ sessionId }) => sessionId));
    for (const listed of await this.#list(environment, "executor")) {
      const { sessionId, command, cwd, tty, seconds, outcome } = listed;
      const known = this.#sessions.find(environment, sessionId);
      const startedAt = this.#now() - seconds * 1000;
      const canType = own.has(sessionId);
      const session = known ?? this.#sessions.see({ environment, sessionId, command, cwd, tty, startedAt, canType });
      const use = listed.use === undefined ? undefined : describeUse(listed.use).join(" · ");
      if (session.entity.state === "running" && session.entity.use !== use) this.#sessions.change(session, { use });
      if (session.entity.state === "running") this.#sessions.end(session, outcome);
    }
  }

  async #list(environment: string, sessionScope: "own" | "executor") {
    const options = { sessionScope, forDisplay: true, environments: [{ id: environment }] } as const;
    const result = await this.#orchestrator.callTool(
      "list_sessions",
      placeOf(this.#orchestrator, environment),
      options,
    );
    return (!result.isError && result.structured?.sessions) || [];
  }
}
