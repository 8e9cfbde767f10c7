export { type CommandSandbox, type CommandSandboxOptions, createCommandSandbox } from "./command-sandbox.js";
export { MARK_S } from "./placeholder-mark.js";
export { getAccess, type RestrictedFiles } from "./profile.js";
export type { SandboxableCommand, WrappedCommand } from "./wrapped-command.js";
export { findProgram, hasNamespaceEnded, type WrapperStatus } from "./wrapper-status.js";
