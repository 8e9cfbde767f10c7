import { type ChannelLimits, DEFAULT_TUNNEL_WINDOW, Tunnel, type TunnelCarrier } from "@codex/channel";

export interface TunnelPairOptions {
  limits?: Partial<ChannelLimits>;
  /** In each direction. */
  window?: number;
  /** Sees each piece that is sent from left to right. */
  onPiece?: (data: string, isLast: boolean) => void;
}

/** Two ends that hear each other in a later turn, as over a wire. */
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

/** What is sent in one turn arrives together in a later one, in order. */
function carrierTo(getPeer: () => Tunnel, onPiece?: (data: string, isLast: boolean) => void): TunnelCarrier {
  let onItsWay: (() => void)[] = [];
  const carry = (deliver: () => void) => {
    if (onItsWay.length === 0) {
      setImmediate(() => {
        const arrived = onItsWay;
        onItsWay = [];
        for (const one of arrived) one();
      });
    }
    onItsWay.push(deliver);
  };
  return {
    async sendPiece(data, isLast) {
      onPiece?.(data, isLast);
      carry(() => getPeer().receivePiece(data, isLast));
    },
    sendTaken: (taken) => carry(() => getPeer().receiveTaken(taken)),
    sendEnd: (reason) => carry(() => getPeer().receiveEnd(reason)),
  };
}
