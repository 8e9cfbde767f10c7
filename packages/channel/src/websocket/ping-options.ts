/** How often a peer is asked for a sign of life, and when it counts as lost. */
export interface PingOptions {
  /** Milliseconds between two pings. */
  intervalMs: number;
  /**
   * The peer is cut off when that many pings in a row brought no sign of life; undefined: never. Every byte it sends is
   * such a sign, and so is that it takes something of a backlog. While we do not read nothing is missed.
   */
  maxMissedPongs?: number;
}
