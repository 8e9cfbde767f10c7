export type { ConfigReader, TomlCodec } from "../environment/config-reader.js";
export { createEnvironmentInfo, type EnvironmentInfoOptions } from "../environment/environment-info.js";
export type { HostEnvironment } from "../environment/methods.js";
export type { Transport } from "./connection.js";
export { createExecServer, type ExecServer, type ExecServerOptions } from "./server.js";
