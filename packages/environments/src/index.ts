export type { ToollessHost } from "@codex/exec-backend";
export { checkEnvironment, type EnvironmentCheck } from "./check.js";
export { addSshAddress } from "./config/add-address.js";
export { type ConfigProblem, EnvironmentsConfigError, withoutUrlSecrets } from "./config/config-error.js";
export { addEnvironment, type NewEnvironment, removeEnvironment } from "./config/edit-environments.js";
export {
  type ConfigSource,
  type ConfiguredCommand,
  type ConfiguredEnvironment,
  type ConfiguredNoise,
  type ConfiguredSsh,
  type ConfiguredWebSocket,
  type EnvironmentsConfig,
  listIds,
  type TokenSource,
} from "./config/environment-config.js";
export {
  ENVIRONMENTS_FILE,
  type EnvironmentsSources,
  loadEnvironments,
  OUR_ENVIRONMENTS_FILE,
} from "./config/load-environments.js";
export { readSshUrl, type SshUrl } from "./config/ssh-url.js";
export { type ConfiguredOptions, createConfigured, createConfiguredProvider } from "./configured.js";
export { connectFiles } from "./connect-files.js";
export type {
  Environment,
  EnvironmentFiles,
  EnvironmentHttp,
  EnvironmentInfo,
  EnvironmentKind,
  EnvironmentState,
  EnvironmentStatus,
  ServedProtocol,
} from "./environment.js";
export {
  createEnvironments,
  type EnvironmentProvider,
  type Environments,
  type UsedEnvironment,
} from "./environments.js";
export { EnvironmentError, type EnvironmentErrorCode } from "./errors.js";
export { AttachedExecutors } from "./life/attached-executors.js";
export { SSH_RECOVERY_MS } from "./limits.js";
export { createCommandLink, type LinkedCommand } from "./links/command.js";
export { type KnownExecutors, openKnownExecutors, type RegisteredEnvironment } from "./links/known-executors.js";
export type { EnvironmentLink, OpenedChannel } from "./links/link.js";
export { LinkError } from "./links/link-error.js";
export { createNoiseLink, listRegistered, type NoiseAddress } from "./links/noise.js";
export { createWebSocketLink, type WebSocketAddress } from "./links/websocket.js";
export { type ListedEnvironment, listConfigured } from "./list-configured.js";
export type { HostTools } from "./remote/host.js";
export { createRemoteEnvironment, type RemoteEnvironmentOptions } from "./remote/remote-environment.js";
export type { BundleFile, BundleFiles, BundleTarget, ServerBundle } from "./ssh/server-bundle.js";
export { createSshLink, type SshLinkOptions } from "./ssh/ssh-link.js";
export { type TrustedExecutor, trustConfigured } from "./trust.js";
