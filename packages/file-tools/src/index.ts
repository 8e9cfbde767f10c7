export {
  type AgentFileMetadata,
  type AgentFiles,
  type FileCallOptions,
  isChangedError,
  isLinkError,
  isMissing,
  pathOfFileUrl,
  type WalkedFiles,
  type WalkOptions,
} from "./agent-files.js";
export { confineFiles } from "./confined-files.js";
export { decodeBase64, encodeBase64 } from "./image/base64.js";
export { detectImage } from "./image/image-type.js";
export { toImageUrl } from "./image/image-url.js";
export { MAX_IMAGE_BYTES, MAX_IMAGE_SIDE, MAX_LISTED_ENTRIES, MAX_PATCHED_BYTES, MAX_READ_LINES } from "./limits.js";
export { type LineRange, renderLines } from "./lines.js";
export { type ListedEntry, type ListingBounds, listDirectory } from "./listing.js";
export { type AppliedPlan, applyPlan } from "./patch/apply-plan.js";
export { type DescribedChange, describeChanges, getAffectedPaths } from "./patch/describe-changes.js";
export { describeRollback } from "./patch/describe-rollback.js";
export { isSameState, readFiles, readState } from "./patch/file-states.js";
export { PATCH_DESCRIPTION } from "./patch/patch-description.js";
