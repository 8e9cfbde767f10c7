export type { CapabilityHost } from "./capabilities/methods.js";
export {
  type ConfigReader,
  type ConfigReaderOptions,
  createConfigReader,
  type TomlCodec,
} from "./environment/config-reader.js";
export { createEnvironmentInfo, type EnvironmentInfoOptions } from "./environment/environment-info.js";
export type { HostEnvironment } from "./environment/methods.js";
export {
  type ConnectionHttp,
  type ConnectionHttpOptions,
  createHttpClient,
  type HttpClient,
  type HttpClientOptions,
  type HttpResponse,
} from "./http/http-client.js";
export { DEFAULT_HTTP_LIMITS, type HttpLimits } from "./http/limits.js";

export { type AuthOptions, authFileOf, resolveAuth } from "./listen/auth-options.js";
export type { BearerAuth } from "./listen/bearer-token.js";
export {
  type ExecServerListener,
  type ListenTarget,
  type ListenWebSocketOptions,
  listenWebSocket,
  parseListenUrl,
  serveStdio,
} from "./listen/listen.js";
export { createExecServer, type ExecServer, type ExecServerOptions } from "./server.js";
export type { Transport } from "./transport.js";
