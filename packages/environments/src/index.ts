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
export type { HostTools, ToollessHost } from "./far/host.js";
export { createRemoteEnvironment, type RemoteEnvironmentOptions } from "./far/remote-environment.js";
export { createCommandLink, type LinkedCommand } from "./links/command.js";
export type { EnvironmentLink, OpenedChannel } from "./links/link.js";
export { LinkError } from "./links/link-error.js";
export { createWebSocketLink, type WebSocketAddress } from "./links/websocket.js";
