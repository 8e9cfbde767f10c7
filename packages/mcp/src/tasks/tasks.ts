import { randomUUID } from "node:crypto";
import type { Clock } from "@codex/clock";
import type { ParkedCall } from "../approvals/parked-calls.js";
import { MAX_TASKS, TASK_TTL_MS } from "../limits.js";
import { CallTask, type TaskEnding } from "./call-task.js";

/** The tasks of one client, each kept for its time to live. */
export class Tasks {
  readonly #clock: Clock;
  readonly #tasks = new Map<string, { task: CallTask; stopClock: () => void }>();
  #reserved = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Counts a call that may become a task, until the returned function is called; undefined if there are too many. */
  reserve(): (() => void) | undefined {
    if (this.#tasks.size + this.#reserved >= MAX_TASKS) return undefined;
    this.#reserved += 1;
    let isReserved = true;
    return () => {
      if (isReserved) this.#reserved -= 1;
      isReserved = false;
    };
  }

  /** For a call that `reserve` has counted. */
  create(call: ParkedCall, ending: TaskEnding): CallTask {
    const task = new CallTask(randomUUID(), call, ending, this.#clock);
    const stopClock = this.#clock.after(TASK_TTL_MS, () => {
      this.#tasks.delete(task.id);
      task.cancel();
    });
    this.#tasks.set(task.id, { task, stopClock });
    return task;
  }

  get(id: string): CallTask | undefined {
    return this.#tasks.get(id)?.task;
  }

  /** Ends the waits of all tasks, and forgets them. */
  close(): void {
    for (const { task, stopClock } of this.#tasks.values()) {
      stopClock();
      task.cancel();
    }
    this.#tasks.clear();
  }
}
