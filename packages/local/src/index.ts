export { createLocalOrchestrator, type LocalOrchestratorOptions } from "./create-local-orchestrator.js";
