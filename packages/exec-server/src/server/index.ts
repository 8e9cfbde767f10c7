export { type ConfigReader, createConfigReader, type TomlCodec } from "../environment/config-reader.js";
export { createEnvironmentInfo, type EnvironmentInfoOptions } from "../environment/environment-info.js";
export type { HostEnvironment } from "../environment/methods.js";
export { createFilesAtOnce, type FilesAtOnce } from "../fs/at-once/files-at-once.js";

export type { HelperCommand } from "../fs/sandboxed/helper-command.js";
export { createSandboxedFiles, type SandboxedFilesOptions } from "../fs/sandboxed/helper-pool.js";
export type { SandboxedFiles } from "../fs/sandboxed/sandboxed-files.js";
export { serveFileHelper } from "../fs/sandboxed/serve-file-helper.js";
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
