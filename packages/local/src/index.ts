export { createLocalEnvironment, type LocalEnvironmentOptions } from "./create-local-environment.js";
export { createLocalOrchestrator, type LocalOrchestratorOptions } from "./create-local-orchestrator.js";
