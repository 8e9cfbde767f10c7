import type { Channel, ChannelLimits } from "@codex/channel";

/** Two connected ends. `cut` breaks the wire between them without a close; a memory pair has no wire. */
export interface Pair {
  left: Channel;
  right: Channel;
  cut?: () => void;
  dispose: () => Promise<void>;
}

export interface Transport {
  name: string;
  open: (limits?: Partial<ChannelLimits>) => Promise<Pair>;
  hasWire: boolean;
  /** It carries JSON text only: no binary frames, and no bytes that are not UTF-8. */
  isTextOnly?: boolean;
  /** A message that is not JSON, or over a limit, ends it. */
  isStrict?: boolean;
  /** It outlives its wire. */
  isResumed?: boolean;
}

/** What the tests of the contract run on. Pairs from `connect` are disposed after each test. */
export interface ContractContext {
  transport: Transport;
  connect: (limits?: Partial<ChannelLimits>) => Promise<Pair>;
}
