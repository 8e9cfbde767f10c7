import { defined } from "@codex/values";
import type { Orchestrator, OrchestratorOptions } from "../api.js";
import { createWith, type TestCollaborators } from "../create-orchestrator.js";

/** `OrchestratorOptions`, and time, ids, jitter and the parser of shell scripts, each with its real default. */
export interface TestOrchestratorOptions extends OrchestratorOptions, TestCollaborators {}

/** `createOrchestrator` for tests that need to control time and what is random. */
export function createTestOrchestrator(options: TestOrchestratorOptions): Orchestrator {
  const { clock, newId, jitter, shellParser, ...rest } = options;
  return createWith(rest, defined({ clock, newId, jitter, shellParser }));
}
