import type { Logger } from "./log/logger.js";
import type { Registry } from "./metrics/registry.js";
import type { Tracing } from "./trace/tracing.js";

/** Where something tells what it does; what is missing is not told. */
export interface Telemetry {
  log?: Logger | undefined;
  metrics?: Registry | undefined;
  tracing?: Tracing | undefined;
}
