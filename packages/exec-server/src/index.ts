export type { ListedProcess, ReadAnswer, TerminateAnswer, WriteStatus } from "./client/answers.js";
export type { ClientClock } from "./client/clock.js";
export { type Communicated, communicate, wait } from "./client/communicate.js";
export { type Connector, createWebSocketConnector, type WebSocketTarget } from "./client/connector.js";
export { ClientError, type ClientErrorCode } from "./client/errors.js";
export { ExecServerClient, type StartRequest } from "./client/exec-server-client.js";
export type { LinkOptions } from "./client/link.js";
export type { EventSink } from "./client/process-channel.js";
export type { Exit, NumberedEvent, ProcessEvent } from "./client/process-event.js";
export { createRemoteBackend, type RemoteBackend, type RemoteBackendOptions } from "./client/remote-backend.js";
export { RemoteEnvironment, type RemoteEnvironmentInfo } from "./client/remote-environment.js";
export { type FileOptions, type MissingChange, RemoteFileSystem } from "./client/remote-file-system.js";
export { RemoteHttp, type RemoteHttpRequest, type RemoteHttpResponse } from "./client/remote-http.js";
export { type MissingOutput, RemoteProcess } from "./client/remote-process.js";
export { RunningProcess, type WireSignal } from "./client/running-process.js";
export type { ServerCommand } from "./client/spawn-server.js";
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
