export { type Clock, systemClock } from "../clock.js";
export { createTestOrchestrator, type TestOrchestratorOptions } from "./create-test-orchestrator.js";
