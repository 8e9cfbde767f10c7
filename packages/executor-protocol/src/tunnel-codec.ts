import type { TunnelMessage } from "./tunnel.js";

/** The receiving side of a tunnel; `Tunnel` of `@codex/channel` implements it. */
export interface TunnelReceiver {
  /** Returns the peer's protocol violation, if any. */
  receivePiece(data: string, isLast: boolean): string | undefined;
  receiveAck(takenBytes: number): void;
  receiveClose(reason: string | undefined): void;
}

/** Passes a message to its tunnel. Returns the peer's protocol violation, if any. */
export function deliverTunnelMessage(message: TunnelMessage, tunnel: TunnelReceiver): string | undefined {
  switch (message.type) {
    case "exec_server":
      return tunnel.receivePiece(message.data, message.more !== true);
    case "exec_server_ack":
      tunnel.receiveAck(message.takenBytes);
      return undefined;
    case "exec_server_closed":
      tunnel.receiveClose(message.reason);
      return undefined;
  }
}

/** The message for a piece of the JSON text of a value; `isLast` marks its last piece. */
export const createTunnelPiece = (tunnel: number, data: string, isLast: boolean): TunnelMessage => ({
  type: "exec_server",
  tunnel,
  data,
  ...(isLast ? {} : { more: true }),
});

/** The message that closes one end of a tunnel. */
export const createTunnelClose = (tunnel: number, reason: string | undefined): TunnelMessage => ({
  type: "exec_server_closed",
  tunnel,
  ...(reason === undefined ? {} : { reason }),
});
