import type { RequestContext } from "./request-context.js";
import type { RpcError } from "./rpc-error.js";
import type { RpcId } from "./rpc-id.js";

/**
 * The return value is the result of the request; a thrown RpcError is its error response, anything else is converted by
 * `errorOf`. Handlers are called in the order of arrival and do not wait for each other.
 */
export type RequestHandler = (params: unknown, context: RequestContext) => unknown;

/** A throw or rejection makes the notification malformed. */
export type NotificationHandler = (params: unknown) => unknown;

/** Handlers and limits of a `Peer`; all optional. */
export interface PeerOptions {
  requests?: ReadonlyMap<string, RequestHandler>;
  notifications?: ReadonlyMap<string, NotificationHandler>;
  /** Handles requests without a handler. Default: RpcError -32601. */
  unknownRequest?: RequestHandler;
  /** A frame that is not a JSON-RPC message. Default: closes the peer. */
  onMalformed?: (problem: string) => void;
  /** Called for a notification without a handler, or a response to no pending request. Default: ignored. */
  onUnexpected?: (message: UnexpectedMessage) => void;
  /** The error response for what a handler threw, if that is not an RpcError. Default: -32603 and the error's message. */
  errorOf?: (error: unknown, context: RequestContext) => RpcError;
  limits?: Partial<PeerLimits>;
}

/** A message that this end did not expect; see `PeerOptions.onUnexpected`. */
export type UnexpectedMessage =
  | { kind: "notification"; method: string; params: unknown }
  | { kind: "response"; id: RpcId; result: unknown }
  | { kind: "error"; id: RpcId; error: RpcError };

/** Bounds of a `Peer` on what the other end, and calls of this end, can make grow. */
export interface PeerLimits {
  /** Most requests of the peer in progress. At the limit nothing more is read until one has its response. */
  maxHandledRequests: number;
  /** The same for the sum of their bytes. One request is always admitted. */
  maxHandledBytes: number;
  /** Requests of this end that wait for a response; one more is rejected with `too_many_requests`. */
  maxPendingRequests: number;
  /** Milliseconds for requests in progress to finish after the peer's end. */
  drainMs: number;
}

/** The limits of a `Peer` that is given none. */
export const DEFAULT_PEER_LIMITS: PeerLimits = {
  maxHandledRequests: 4096,
  maxHandledBytes: 128 * 1024 * 1024,
  maxPendingRequests: 65_536,
  drainMs: 5_000,
};

/** Returned by a handler to respond with an error as if it threw an RpcError, without the cost of a stack trace. */
export class ErrorResponse {
  readonly code: number;
  readonly message: string;

  constructor(code: number, message: string) {
    this.code = code;
    this.message = message;
  }
}

/** Returned by a handler whose result is already encoded as JSON. */
export class EncodedResponse {
  /** The whole message for an id: `{"id":…,"result":…}` in UTF-8, without a line feed. */
  readonly encode: (id: RpcId) => Uint8Array;

  constructor(encode: (id: RpcId) => Uint8Array) {
    this.encode = encode;
  }
}
