export {
  type ConfigReader,
  type ConfigReaderOptions,
  createConfigReader,
  type TomlCodec,
} from "./environment/config-reader.js";

export { createEnvironmentInfo, type EnvironmentInfoOptions } from "./environment/environment-info.js";

export {
  type ConnectionHttp,
  type ConnectionHttpOptions,
  createHttpClient,
  type HttpAnswer,
  type HttpClient,
  type HttpClientOptions,
} from "./http/http-client.js";
export { DEFAULT_HTTP_LIMITS, type HttpLimits } from "./http/limits.js";

export {
  createShellSnapshots,
  type ShellCommand,
  type ShellSnapshots,
  type ShellSnapshotsOptions,
  type ShellStartup,
} from "./shell-snapshot/shell-snapshots.js";
