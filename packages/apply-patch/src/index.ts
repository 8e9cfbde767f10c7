export {
  MAX_CHUNKS,
  MAX_DIFF_BYTES,
  MAX_FILE_BYTES,
  MAX_OPERATIONS,
  MAX_PATCH_BYTES,
  MAX_SEARCH_STEPS,
} from "./limits.js";
export { applyChunks } from "./match/apply-chunks.js";
export { type ParsedPatch, parsePatch } from "./parse/parse-patch.js";
export {
  type AddFile,
  type Chunk,
  type ChunkLine,
  type DeleteFile,
  type Operation,
  type Patch,
  PatchError,
  type PatchProblem,
  type UpdateFile,
} from "./patch.js";
export { renderFailure, renderProblem, renderProblems, renderSuccess } from "./plan/answer.js";
export { type ComparedFile, comparePatch } from "./plan/compare-patch.js";
export type { FileState, FilesBefore, Plan, Planned, PlannedChange, Step } from "./plan/plan.js";
export { getPatchPaths, planPatch } from "./plan/plan-patch.js";
export { renderDiff } from "./plan/render-diff.js";
export { getAncestors, isBelow, resolvePath } from "./plan/resolve-path.js";
export { explainPatchCommand, type PatchScript, parsePatchScript } from "./script/patch-script.js";
