/** How a client is connected. A client on stdio cannot reconnect, so its session ends with the connection. */
export type Transport = { kind: "stdio" } | { kind: "websocket" /** `IP:PORT` */; peer: string };
