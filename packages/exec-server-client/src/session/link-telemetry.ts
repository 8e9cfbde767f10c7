import { createRegistry, type Telemetry } from "@codex/telemetry";

/** Metrics and logs of the connections of a client to its exec-server. */
export interface LinkTelemetry {
  /** A connection was lost; its session may be resumed. */
  disconnected(sessionId: string | undefined): void;
  resumed(sessionId: string | undefined): void;
  /** A session is gone, with the processes that ran in it. */
  lost(sessionId: string | undefined, reason: string): void;
}

export function createLinkTelemetry({ log, metrics = createRegistry() }: Telemetry): LinkTelemetry {
  const count = (name: string, help: string) => metrics.counter({ name: `codex_exec_client_${name}_total`, help });
  const disconnects = count("connections_lost", "Connections to an exec-server that were lost.");
  const resumes = count("sessions_resumed", "Sessions that were resumed over a new connection.");
  const losses = count("sessions_lost", "Sessions that could not be resumed.");
  return {
    disconnected(session) {
      disconnects.value += 1;
      log?.warn?.("connection to the exec-server lost", { session: session?.slice(0, 8) });
    },
    resumed(session) {
      resumes.value += 1;
      log?.info?.("session resumed", { session: session?.slice(0, 8) });
    },
    lost(session, reason) {
      losses.value += 1;
      log?.error?.("session lost", { session: session?.slice(0, 8), reason });
    },
  };
}
