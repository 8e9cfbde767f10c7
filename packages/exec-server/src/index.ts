export { ProcessError, StartError, type StartErrorCode, WriteError } from "./process/errors.js";
export type {
  ExecBackend,
  ExecProcess,
  OutputChunk,
  OutputLogLimits,
  ProcessSignal,
  ProcessSpec,
  ProcessStdio,
  TerminateOptions,
  TerminationReceipt,
} from "./process/exec-backend.js";
export { createLocalBackend, type LocalBackendOptions } from "./process/local-backend.js";
export {
  createOutputLog,
  type FollowOptions,
  type LogSlice,
  type OutputLog,
  type WritableOutputLog,
} from "./process/output-log.js";
export { getExitCode, getSignalName, getSignalNumber } from "./process/signals.js";
