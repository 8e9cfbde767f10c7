export { OUTPUT_PIPE_BYTES, OUTPUT_READ_BYTES, OUTPUT_TAIL_BYTES } from "./limits.js";
export { CommandError, SERVER_EXIT } from "./process/command-error.js";
export {
  type CredentialArguments,
  type Credentials,
  readCredentials,
  readTlsIdentity,
  type TlsArguments,
  watchListenToken,
  watchTlsIdentity,
} from "./process/credentials.js";
export { onStopSignal } from "./process/host-process.js";
export { isLoopback, parseHttpListenUrl } from "./process/listen-url.js";
export { takeNodeOptions, withoutNodeOptions } from "./process/node-options.js";
export { type OpenedTelemetry, openTelemetry, type TelemetryArguments } from "./process/open-telemetry.js";
export { type DrainArguments, openServing, type Serving } from "./process/serving.js";
export { isStdio, refuseOnStdio } from "./process/stdio-listen.js";
export { VERSION } from "./process/version.js";
