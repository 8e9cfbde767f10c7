export { type ConfigReader, createConfigReader, type TomlCodec } from "../environment/config-reader.js";
export { createEnvironmentInfo, type EnvironmentInfoOptions } from "../environment/environment-info.js";
export type { HostEnvironment } from "../environment/methods.js";

export { type AuthOptions, resolveAuth } from "./auth-options.js";
export type { BearerAuth } from "./bearer-token.js";
export type { Transport } from "./connection.js";
export {
  type ExecServerListener,
  type ListenTarget,
  type ListenWebSocketOptions,
  listenWebSocket,
  parseListenUrl,
  serveStdio,
} from "./listen.js";
export { createExecServer, type ExecServer, type ExecServerOptions } from "./server.js";
