export { observeRegistry } from "./metrics.js";
export { createTracing } from "./tracing.js";
