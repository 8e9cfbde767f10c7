/** How a client is connected. A client on stdio cannot reconnect, so its session ends with the connection. */
export type Transport =
  | { kind: "stdio" }
  | { kind: "websocket" /** `IP:PORT` */; peer: string }
  /**
   * Lines on a socket of this host, such as a bridge's. It cannot be asked whether the client is still there, so a session
   * goes to whoever resumes it last.
   */
  | { kind: "socket"; peer: string };
