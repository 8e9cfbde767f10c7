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

/** The reply to a request. Waiting for it always ends, and never rejects. */
export type Reply<M> =
  | { kind: "answer"; message: M }
  /** An `error` message for this request. */
  | { kind: "refused"; message: string }
  /** An answer came, but it could not be read. */
  | { kind: "unreadable"; problem: string }
  /** The peer speaks JSON-RPC. */
  | { kind: "foreign" }
  | { kind: "timeout"; ms: number }
  /** The channel ended first. */
  | { kind: "ended"; reason: string }
  /**
   * Nothing was sent. `refused`: it cannot be, whatever the channel. `offline`: the executor is gone. `unreached`: it was
   * looked for until the deadline. `changed`: what was found is not what the request was made for.
   */
  | { kind: "unsent"; reason: string; cause: "refused" | "offline" | "unreached" | "changed" };

export type ResponseType =
  | "list_tools_response"
  | "call_tool_response"
  | "shutdown_response"
  | "initialize_response"
  | "open_exec_server_response";
export type ResponseMessage<T extends ResponseType> = Extract<ExecutorMessage, { type: T }>;
export type RequestMessage = Exclude<OrchestratorMessage, { type: "cancel_tool" | "ack" | TunnelMessage["type"] }>;
/** What an executor says without having been asked. */
export type UnaskedMessage = Extract<
  ExecutorMessage,
  { type: "tools_changed" | "session_exited" | TunnelMessage["type"] }
>;
/** A request without its id, which the wire chooses. */
export type RequestBody = RequestMessage extends infer R
  ? R extends RequestMessage
    ? Omit<R, "requestId">
    : never
  : never;

export interface RequestOptions<T extends ResponseType> {
  responseType: T;
  deadlineMs: number;
  /** Only the current instance of the executor can carry it out, not one that replaces it. */
  isBound?: boolean;
  /** Receives the live output; the reply comes after it has taken the output before it. */
  output?: OutputListener | undefined;
}

/** A request that was sent, or will be once there is a channel. */
export interface SentRequest<M> {
  requestId: string;
  reply: Promise<Reply<M>>;
  /** Replaces the deadline by one that begins now and does not wait for the listener of the output. */
  expire(ms: number): void;
}

export interface WireOptions {
  channel: Channel;
  clock: Clock;
  limits: ExecutorConnectionLimits;
  problems: ProblemLog;
  /** Makes the ids of this wire unlike those of any other. */
  idPrefix: string;
  onUnasked: (message: UnaskedMessage) => void;
  /** Whether the executor is waited for though no call is under way. */
  isAwaited: () => boolean;
  /** Silence after which an executor that owes an answer is asked for a sign of life, milliseconds. */
  livenessMs: number;
  /** Looks for another channel when the current one has ended; never rejects. Absent: that is the end of the wire. */
  recover?: ((loss: Loss) => Promise<Recovery>) | undefined;
}

/** A channel has ended, and requests may be without an answer. */
export interface Loss {
  reason: string;
  /** The state to send to an executor that may have kept the connection. */
  getState(): { unanswered: UnansweredCall[]; givenUp: string[]; received: OutputPosition[] };
  /** Aborts when the wire is closed. */
  signal: AbortSignal;
}

/** What an executor that waits for acknowledgements needs. */
export interface AckTerms {
  /** It is acknowledged at least each time so many bytes of live output came. */
  ackBytes: number;
  /** The number of the last call that reached it; undefined where calls need none. */
  lastSequence: number | undefined;
}

/**
 * `resumed`: the executor has kept everything, but the calls in `resend` never reached it. `renewed`: there is a channel,
 * but what was under way is gone, for that reason. `isSameHost`: it says of its host what was said before.
 */
export type Recovery =
  | { kind: "resumed"; channel: Channel; resend: ReadonlySet<string>; terms: AckTerms | undefined }
  | { kind: "renewed"; channel: Channel; reason: string; terms: AckTerms | undefined; isSameHost: boolean }
  | { kind: "over"; reason: string };
