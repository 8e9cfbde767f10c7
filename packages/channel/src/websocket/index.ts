export type { Page } from "../http/page.js";
export { answerProbe } from "../http/probe.js";
export type { TlsIdentity } from "../http/tls-identity.js";
export { type ConnectedChannel, type ConnectOptions, connectWebSocketChannel } from "./connect.js";
export {
  type Authorization,
  createWebSocketListener,
  FIRST_MESSAGE_MS,
  type ListenOptions,
  type WebSocketListener,
} from "./listen.js";
export type { ListenAddress } from "./listen-address.js";
export type { PingOptions } from "./ping-options.js";
