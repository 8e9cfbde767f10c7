export { findProgram, hasNamespaceEnded } from "./bubblewrap/wrapper-status.js";
export { type CommandSandbox, type CommandSandboxOptions, createCommandSandbox } from "./command-sandbox.js";
export { PROXY_PORT } from "./network/proxy-port.js";
export type { NetworkPlace, SessionNetwork } from "./network/session-network.js";
export { MARK_S } from "./profile/placeholder-mark.js";
export { getAccess, type RestrictedFiles } from "./profile/profile.js";
export type { FreeName, SandboxableCommand, WrappedCommand, WrapperStatus } from "./wrapped-command.js";
