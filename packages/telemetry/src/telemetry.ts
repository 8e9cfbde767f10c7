import type { Logger } from "./log/logger.js";
import type { Registry } from "./metrics/registry.js";
import type { Tracing } from "./trace/tracing.js";

/** Where a component reports what it does: logs, metrics, spans. Members that are left out report nothing. */
export interface Telemetry {
  log?: Logger | undefined;
  metrics?: Registry | undefined;
  tracing?: Tracing | undefined;
}
