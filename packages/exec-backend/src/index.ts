export { checkStrings } from "./check-spec.js";
export {
  CORE_NAMES,
  createEnvironment,
  DEFAULT_EXCLUDES,
  isDecided,
  listRemoved,
  NEVER_PASSED,
  type RemovedVariable,
} from "./create-environment.js";
export {
  errnoOf,
  ProcessError,
  START_ERROR_CODES,
  StartError,
  type StartErrorCode,
  UnknownStartError,
  WriteError,
} from "./errors.js";
export type {
  ExecBackend,
  ExecProcess,
  GateState,
  HostDecision,
  HostEnd,
  HostQuestions,
  HostSandbox,
  InputWait,
  NetworkSpec,
  NetworkState,
  OnceVerdict,
  ProcessSignal,
  ProcessSpec,
  ProcessStdio,
  ProgramQuestions,
  ResourceState,
  SandboxDenial,
  SandboxType,
  SentSignal,
  TerminateOptions,
  TerminationReceipt,
} from "./exec-backend.js";
export { HostVerdicts, isAllowing } from "./host-verdicts.js";
export {
  DEFAULT_LOG_LIMITS,
  DEFAULT_TERMINAL_SIZE,
  DEFAULT_TERMINATE_GRACE_MS,
  KILL_DEADLINE_MS,
  MAX_NETWORK_DENIALS,
  MAX_WRITE_BYTES,
  type OutputLogLimits,
} from "./limits.js";
export { NetworkDenials } from "./network-denials.js";
export type { LogHold, LogHost, LogPin } from "./output-log/log-host.js";
export type { LogReader } from "./output-log/log-reader.js";
export type { OutputChunk } from "./output-log/output-chunk.js";
export {
  createOutputLog,
  type FollowOptions,
  type LogSlice,
  type MissingRange,
  type OutputLog,
  type ReaderOptions,
  RetainedLog,
  type SkippedOutput,
  type WritableOutputLog,
} from "./output-log/output-log.js";
export { openUnnamed, type UnnamedFile } from "./output-log/unnamed-file.js";
export { getProgramName } from "./program-name.js";
export { detectShell, type Shell } from "./shell.js";
export { getExitCode, getSignalNumber } from "./signals.js";
export type { ToollessHost } from "./toolless-host.js";
