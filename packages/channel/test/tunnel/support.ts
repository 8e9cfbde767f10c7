import { type ChannelLimits, DEFAULT_TUNNEL_WINDOW, Tunnel, type TunnelCarrier } from "@codex/channel";

export interface TunnelPairOptions {
  limits?: Partial<ChannelLimits>;
  /** The window in each direction. */
  window?: number;
  /** Called with each piece that is sent from left to right. */
  onPiece?: (data: string, isLast: boolean) => void;
}

/** Two ends whose messages arrive in a later turn, as over a wire. */
export function createTunnelPair({ limits, window = DEFAULT_TUNNEL_WINDOW, onPiece }: TunnelPairOptions = {}) {
  const windows = { received: window, sent: window };
  const left = new Tunnel(
    carrierTo(() => right, onPiece),
    windows,
    limits,
  );
  const right: Tunnel = new Tunnel(
    carrierTo(() => left),
    windows,
    limits,
  );
  return { left, right };
}

/** Messages of one turn arrive together in a later one, in order. */
function carrierTo(getPeer: () => Tunnel, onPiece?: (data: string, isLast: boolean) => void): TunnelCarrier {
  let inTransit: (() => void)[] = [];
  const carry = (deliver: () => void) => {
    if (inTransit.length === 0) {
      setImmediate(() => {
        const arrived = inTransit;
        inTransit = [];
        for (const one of arrived) one();
      });
    }
    inTransit.push(deliver);
  };
  return {
    async sendPiece(data, isLast) {
      onPiece?.(data, isLast);
      carry(() => getPeer().receivePiece(data, isLast));
    },
    sendAck: (taken) => carry(() => getPeer().receiveAck(taken)),
    sendClose: (reason) => carry(() => getPeer().receiveClose(reason)),
  };
}
