/** How a client is connected. A client on stdio cannot reconnect, so its session ends with the connection. */
export type Transport =
  | { kind: "stdio" }
  | { kind: "websocket" /** `IP:PORT` */; peer: string }
  /**
   * Lines on a socket of this host, such as a bridge's. It has no ping, so a session
   * is attached to the connection that resumed it last.
   */
  | { kind: "socket"; peer: string };
