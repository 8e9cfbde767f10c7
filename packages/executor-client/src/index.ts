export { describeReply } from "./connection/describe-reply.js";
export {
  type CallReply,
  type CallRequest,
  type CallResponse,
  type ConnectionOptions,
  type Connector,
  ExecutorConnection,
  type InitializeOptions,
  type ReconnectOptions,
} from "./connection/executor-connection.js";
export { type IncomingOutput, type LiveOutput, OutputTracker } from "./connection/live-output.js";
export type { OutputListener, OutputPiece } from "./connection/output-queue.js";
export { type ProblemKind, ProblemLog, type ProtocolProblem } from "./connection/problems.js";
export type { AnswerHost, AnswerProgram, AskedHost, AskedProgram, HostReport } from "./connection/questions.js";
export type { SessionOwner } from "./connection/session-owner.js";
export type { LearnedTool } from "./connection/tool-list.js";
export type { Reply, SentRequest } from "./connection/wire-types.js";
export { ExecutorConnectionError, type ExecutorConnectionErrorCode } from "./errors.js";
export {
  DEFAULT_EXECUTOR_CONNECTION_LIMITS,
  DEFAULT_EXECUTOR_CONNECTION_TIMINGS,
  type ExecutorConnectionLimits,
  type ExecutorConnectionTimings,
  QUEUED_PIECE_BYTES,
} from "./limits.js";
