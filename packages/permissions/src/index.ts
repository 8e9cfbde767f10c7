export { type BoundRequest, renderBoundRequest } from "./bound-request.js";
export {
  type BoundedCommand,
  type BoundedPaths,
  type Ceiling,
  type CeilingContext,
  findExcess,
  getBoundedPaths,
} from "./ceiling.js";
export { CLOSED_IN_GIT_DIRECTORY, PROTECTED_NAMES, WRITTEN_IN_GIT_DIRECTORY } from "./git-directory.js";
export { findMovedPaths, type MovedPaths } from "./moved-paths.js";
export { expandBraces, isWithin, renderNamePattern } from "./paths.js";
export { describeEntry, type SandboxEntry } from "./sandbox-entry.js";
export { denyAlso, opensDenied, widenSandbox } from "./widen-sandbox.js";
export { findUnwritable } from "./writable.js";
