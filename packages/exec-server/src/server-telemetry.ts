import { ErrorResponse, type RequestHandler, RpcError } from "@codex/channel";
import { METHODS } from "@codex/exec-server-protocol";
import { type Counter, createRegistry, type Logger, type Registry, type Telemetry, withFields } from "@codex/telemetry";
import type { Transport } from "./transport.js";

/** Metrics, logs and spans of the connections, sessions and requests of a server. */
export interface ServerTelemetry {
  connections: Counter;
  sessions: Counter;
  resumes: Counter;
  /** Sessions that were never resumed. */
  expiries: Counter;
  /** Messages that could not be parsed. */
  malformed: Counter;
  log: Logger;
  opened(transport: Transport): void;
  /** Wraps handlers to measure them; returns them unchanged where nothing is recorded. */
  instrument(handlers: ReadonlyMap<string, RequestHandler>, log: Logger): ReadonlyMap<string, RequestHandler>;
}

export function createServerTelemetry({ log = {}, metrics, tracing }: Telemetry): ServerTelemetry {
  const registry = metrics ?? createRegistry();
  const count = (name: string, help: string) => registry.counter({ name: `codex_exec_server_${name}_total`, help });
  const gauge = (name: string, help: string) => registry.gauge({ name: `codex_exec_server_${name}`, help });
  const accepted = count("connections", "Connections that were accepted.");
  const requests = metrics === undefined ? undefined : createRequestMetrics(metrics);
  return {
    connections: gauge("connections_live", "Connections that are open."),
    sessions: gauge("sessions_live", "Sessions, including those that wait for their client."),
    resumes: count("sessions_resumed", "Sessions that were resumed over a new connection."),
    expiries: count("sessions_expired", "Sessions that ended because they were not resumed."),
    malformed: count("malformed_messages", "Messages that could not be read."),
    log,
    opened(transport) {
      accepted.value += 1;
      log.info?.("connection opened", transport.kind === "stdio" ? { transport: "stdio" } : { ...transport });
    },
    instrument(handlers, own) {
      if (requests === undefined && tracing === undefined && own.debug === undefined) return handlers;
      return new Map(
        Array.from(handlers, ([method, handler]) => [
          method,
          instrumentRequest(method, handler, { requests, tracing, log: own }),
        ]),
      );
    },
  };
}

interface Instruments {
  requests: ReturnType<typeof createRequestMetrics> | undefined;
  tracing: Telemetry["tracing"];
  log: Logger;
}

/** Measures until the response is handed to the channel. */
function instrumentRequest(
  method: string,
  handler: RequestHandler,
  { requests, tracing, log }: Instruments,
): RequestHandler {
  return async (params, context) => {
    const startedAt = performance.now();
    if (requests !== undefined) requests.inFlight.value += 1;
    const attributes = { "rpc.system.name": "jsonrpc", "rpc.method": method, "jsonrpc.request.id": String(context.id) };
    const span = tracing?.startSpan(method, { kind: "server", parent: context.trace, attributes });
    if (span !== undefined) context.trace = span.context;
    const end = (status: string) => {
      const seconds = (performance.now() - startedAt) / 1000;
      if (requests !== undefined) requests.inFlight.value -= 1;
      requests?.seconds.observe(seconds);
      requests?.count(method, status);
      log.debug?.("request answered", {
        requestId: String(context.id),
        method,
        status,
        ms: Math.round(seconds * 1000),
      });
      if (status !== "ok") {
        span?.set({ "rpc.response.status_code": status });
        span?.fail(status);
      }
      span?.end();
    };
    try {
      const result: unknown = await handler(params, context);
      end(result instanceof ErrorResponse ? String(result.code) : "ok");
      return result;
    } catch (error) {
      end(error instanceof RpcError ? String(error.code) : "error");
      throw error;
    }
  };
}

function createRequestMetrics(metrics: Registry) {
  const counters = Object.values(METHODS).flatMap((method) =>
    (["ok", "error"] as const).map((status) => {
      const counter = metrics.counter({
        name: "codex_exec_server_requests_total",
        help: "Completed requests, by method and status.",
        labels: { method, status },
      });
      return [`${method} ${status}`, counter] as const;
    }),
  );
  const byKind = new Map<string, Counter>(counters);
  return {
    inFlight: metrics.gauge({
      name: "codex_exec_server_requests_in_flight",
      help: "Requests in progress.",
    }),
    seconds: metrics.histogram({
      name: "codex_exec_server_request_duration_seconds",
      help: "Time from a request to its response, including requested waits.",
    }),
    count(method: string, status: string) {
      const counter = byKind.get(`${method} ${status === "ok" ? "ok" : "error"}`);
      if (counter !== undefined) counter.value += 1;
    },
  };
}

/** The first characters of a session id, for logs: the whole id would be enough to resume the session. */
export const shortId = (sessionId: string): string => sessionId.slice(0, 8);

/** A logger that names the peer of a connection. */
export const forConnection = (log: Logger, transport: Transport): Logger =>
  withFields(log, { peer: transport.kind === "stdio" ? "stdio" : transport.peer });
