import type { Channel } from "@codex/channel";
import type { Clock } from "@codex/clock";
import type {
  ExecutorMessage,
  OrchestratorMessage,
  OutputPosition,
  TunnelMessage,
  UnansweredCall,
} from "@codex/executor-protocol";
import type { ExecutorConnectionLimits } from "../limits.js";
import type { OutputListener } from "./output-queue.js";
import type { ProblemLog } from "./problems.js";

/** The result of a request. Its promise always resolves. */
export type Reply<M> =
  | { kind: "answer"; message: M }
  /** An `error` message for this request. */
  | { kind: "refused"; message: string }
  /** A response arrived, but is invalid. */
  | { kind: "unreadable"; problem: string }
  /** The peer speaks JSON-RPC. */
  | { kind: "foreign" }
  | { kind: "timeout"; ms: number }
  /** The channel ended before the response. */
  | { kind: "ended"; reason: string }
  /**
   * The request was not sent. `refused`: no channel can send it. `offline`: the executor is gone. `unreached`: reconnecting did
   * not succeed before the deadline. `changed`: the executor that was reached is on another host.
   */
  | { kind: "unsent"; reason: string; cause: "refused" | "offline" | "unreached" | "changed" };

export type ResponseType =
  | "list_tools_response"
  | "call_tool_response"
  | "shutdown_response"
  | "initialize_response"
  | "open_exec_gate_response"
  | "open_exec_server_response";
export type ResponseMessage<T extends ResponseType> = Extract<ExecutorMessage, { type: T }>;
export type RequestMessage = Exclude<
  OrchestratorMessage,
  { type: "cancel_tool" | "ack" | "program_answer" | "host_answer" | TunnelMessage["type"] }
>;
/** Messages of an executor that are not responses. */
export type UnsolicitedMessage = Extract<
  ExecutorMessage,
  {
    type:
      | "tools_changed"
      | "session_exited"
      | "program_question"
      | "host_question"
      | "host_report"
      | "question_withdrawn"
      | TunnelMessage["type"];
  }
>;
/** A request without its id, which `Wire` assigns. */
export type RequestBody = RequestMessage extends infer R
  ? R extends RequestMessage
    ? Omit<R, "requestId">
    : never
  : never;

export interface RequestOptions<T extends ResponseType> {
  responseType: T;
  deadlineMs: number;
  /** Only valid for the current instance of the executor, not for one that replaces it. */
  isInstanceBound?: boolean;
  /** Receives the live output; the reply resolves after it has handled all earlier output. */
  output?: OutputListener | undefined;
}

/** A request that was sent, or will be once there is a channel. */
export interface SentRequest<M> {
  requestId: string;
  reply: Promise<Reply<M>>;
  /** Replaces the deadline by one that starts now and does not wait for the output listener. */
  expire(ms: number): void;
}

export interface WireOptions {
  channel: Channel;
  clock: Clock;
  limits: ExecutorConnectionLimits;
  problems: ProblemLog;
  /** Prefix of request ids, unique to this connection. */
  idPrefix: string;
  onUnsolicited: (message: UnsolicitedMessage) => void;
  /** Whether a silent executor is pinged without a call in progress as well. */
  isWatchedIdle: () => boolean;
  /** Time without a message after which an executor is pinged, milliseconds. */
  livenessMs: number;
  /** Called to replace a channel that has ended; never rejects. Absent: the connection ends with its channel. */
  recover?: ((loss: Loss) => Promise<Recovery>) | undefined;
}

/** A channel that has ended, possibly with unanswered requests. */
export interface Loss {
  reason: string;
  /** The state to send to an executor that may have retained the connection. */
  getState(): { unanswered: UnansweredCall[]; givenUp: string[]; received: OutputPosition[] };
  /** Aborts when the wire is closed. */
  signal: AbortSignal;
}

/** How output is acknowledged. */
export interface AckTerms {
  /** An ack is sent at least once per this many bytes of live output. */
  ackBytes: number;
  /** Sequence number of the last call that the executor received; undefined if calls are not numbered. */
  lastSequence: number | undefined;
}

/**
 * `resumed`: the executor retained everything, but the calls in `resend` never reached it. `renewed`: connected to a new instance;
 * pending requests are lost, for that reason. `isSameHost`: it reports the same host as before.
 */
export type Recovery =
  | { kind: "resumed"; channel: Channel; resend: ReadonlySet<string>; terms: AckTerms | undefined }
  | { kind: "renewed"; channel: Channel; reason: string; terms: AckTerms | undefined; isSameHost: boolean }
  | { kind: "ended"; reason: string };
