import type { ExecutorEvents } from "../executors/executor-events.js";
import type { Observers } from "./observers.js";

/** Wraps callbacks so that events are also reported to observers. */
export function reportEvents(events: ExecutorEvents, observers: Observers): ExecutorEvents {
  const changed = () => observers.emit({ type: "environments_changed" });
  return {
    onProblem: (problem) => events.onProblem?.(problem),
    onToolsChanged: (name) => events.onToolsChanged?.(name),
    onSessionExited(exited) {
      const { executor: environment, sessionId, outcome } = exited;
      observers.emit({ type: "session_exited", environment, sessionId, outcome });
      return events.onSessionExited?.(exited);
    },
    onOffline(name, reason, reconnecting) {
      changed();
      return events.onOffline?.(name, reason, reconnecting);
    },
    onOnline(name, back) {
      changed();
      return events.onOnline?.(name, back);
    },
  };
}
