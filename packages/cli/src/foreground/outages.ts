import type { OrchestratorOptions } from "@codex/orchestrator";

/** Tracks whether the executor can be reached, and notifies the user when that changes. */
export interface Outages {
  readonly isLost: boolean;
  /** For `createOrchestrator`. */
  readonly hooks: Pick<OrchestratorOptions, "onOffline" | "onOnline">;
  /** For a connection that the orchestrator does not see. */
  lose(reason: string): void;
  restore(): void;
  /** Calls back at each change. Returns a function that stops it. */
  watch(listener: (isLost: boolean) => void): () => void;
}

/**
 * @param say shows the user a line
 * @param hint how to give up
 */
export function createOutages(say: (line: string) => void, hint: string): Outages {
  const listeners = new Set<(isLost: boolean) => void>();
  let isLost = false;
  const change = (next: boolean, line: string) => {
    if (next === isLost) return;
    isLost = next;
    say(line);
    for (const listener of listeners) listener(isLost);
  };
  const lose = (reason: string) => change(true, `connection lost, trying again… (${reason}); ${hint}`);
  const restore = () => change(false, "connected again");
  return {
    get isLost() {
      return isLost;
    },
    hooks: {
      onOffline(_executor, reason, reconnecting) {
        if (reconnecting) lose(reason);
      },
      onOnline(_executor, { resumed }) {
        // If the program is gone, its outcome says so.
        if (resumed) restore();
      },
    },
    lose,
    restore,
    watch(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
