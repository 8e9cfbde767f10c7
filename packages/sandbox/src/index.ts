export {
  type CommandSandbox,
  type CommandSandboxOptions,
  createCommandSandbox,
  type SandboxableCommand,
  type WrappedCommand,
} from "./command-sandbox.js";
export { MARK_S } from "./placeholder-mark.js";
export { getAccess, type RestrictedFiles } from "./profile.js";
export { findProgram, hasNamespaceEnded, type WrapperStatus } from "./wrapper-status.js";
