/** Close codes of RFC 6455, and from 4000 those of the rendezvous, as documented in `docs/rendezvous.md`. */
export const CLOSE = {
  normal: 1000,
  policyViolation: 1008,
  tooLarge: 1009,
  /** The rendezvous is shutting down: reconnect, possibly to another node. */
  draining: 1012,
  /** The executor's connection is gone: reconnect. */
  executorGone: 1013,
  /** For an executor: another connection replaced this one. */
  replaced: 4409,
} as const;
