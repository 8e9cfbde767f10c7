/** How often a peer is pinged, and when it is considered lost. */
export interface PingOptions {
  /** Milliseconds between two pings. */
  intervalMs: number;
  /**
   * The peer is disconnected after this many pings in a row without a sign of life; undefined: never. Any byte from it is a sign
   * of life, and so is progress of our backlog. While this end does not read, no pong counts as missed.
   */
  maxMissedPongs?: number;
}
