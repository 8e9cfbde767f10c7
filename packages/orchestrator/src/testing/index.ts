export { type Clock, systemClock } from "@codex/clock";
export { createTestOrchestrator, type TestOrchestratorOptions } from "./create-test-orchestrator.js";
