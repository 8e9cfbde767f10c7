export { CarriedChannel, type CarriedOptions, type MessageCarrier } from "./carried/carried-channel.js";
export type { BinaryFrames, Channel, ChannelEnd, CloseOptions, Received, ReceivedBytes } from "./channel.js";
export { ChannelError, type ChannelErrorCode } from "./errors.js";
export { findFinal } from "./final-error.js";
export { answerPage, type Page } from "./http/page.js";
export { answerProbe } from "./http/probe.js";
export { followTlsSource, type TlsIdentity, type TlsSource, toTlsOptions } from "./http/tls-identity.js";
export { boundUnadmitted, type Unadmitted, type UnadmittedLimits } from "./http/unadmitted.js";
export { type Envelope, parseEnvelope, type TraceContext } from "./json-rpc/envelope.js";
export { Peer, type RequestOptions } from "./json-rpc/peer.js";
export {
  DEFAULT_PEER_LIMITS,
  EncodedResponse,
  ErrorResponse,
  type NotificationHandler,
  type PeerLimits,
  type PeerOptions,
  type RequestHandler,
  type UnexpectedMessage,
} from "./json-rpc/peer-options.js";
export type { RequestContext } from "./json-rpc/request-context.js";
export {
  RPC_INTERNAL_ERROR,
  RPC_INVALID_PARAMS,
  RPC_INVALID_REQUEST,
  RPC_METHOD_NOT_FOUND,
  RpcError,
} from "./json-rpc/rpc-error.js";
export { encodeId, type RpcId } from "./json-rpc/rpc-id.js";
export { type ChannelLimits, DEFAULT_CHANNEL_LIMITS, resolveLimits } from "./limits.js";
export { createMemoryChannelPair } from "./memory/memory-channel.js";
export { Fifo } from "./queue/fifo.js";
export { TurnCork } from "./queue/turn-cork.js";
export { withRoom } from "./reads/with-room.js";
export { findMessage } from "./stdio/leading-text.js";
export { createStdioChannel, type StdioStreams } from "./stdio/stdio-channel.js";
export { DEFAULT_TUNNEL_WINDOW, MIN_TUNNEL_WINDOW } from "./tunnel/piece.js";
export { Tunnel, type TunnelCarrier, type TunnelWindows } from "./tunnel/tunnel.js";
