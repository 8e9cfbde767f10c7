export { type Clock, systemClock } from "@codex/clock";
export { checkFace, type Face, type FaceAnswer, type FaceCheck } from "./check-face.js";
export { createTestOrchestrator, type TestOrchestratorOptions } from "./create-test-orchestrator.js";
export { FACE_CASES, type FaceCase, type FaceStep } from "./face-cases.js";
