import type { ChannelLimits } from "@codex/channel";
import type { Clock } from "@codex/clock";

/** What a stream is made with. */
export interface StreamOptions {
  /** Which end this is: a harness offers acknowledgements, an executor accepts them. */
  role: "harness" | "executor";
  clock: Clock;
  limits?: Partial<ChannelLimits> | undefined;
  /** Makes the id of a session, at an executor: nobody may guess it. */
  createSessionId?: () => string;
  /** The stream is of no use on its present link: the owner takes it off, and may attach another. */
  onBroken(reason: string): void;
  /** Received messages wait, and a peer that cannot be told so sends on. Not called with a peer of ours. */
  onFull?(isFull: boolean): void;
  /** Nothing more goes through the stream: the owner forgets it. */
  onEnded(): void;
}
