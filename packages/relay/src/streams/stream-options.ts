import type { ChannelLimits } from "@codex/channel";
import type { Clock } from "@codex/clock";

/** Options of a stream. */
export interface StreamOptions {
  /** Role of this end: a harness offers acknowledgements, an executor with `createSessionId` accepts them. */
  role: "harness" | "executor";
  clock: Clock;
  limits?: Partial<ChannelLimits> | undefined;
  /** Creates an unguessable session id, at an executor. */
  createSessionId?: () => string;
  /** Called when the link is unusable: the owner detaches it, and may attach another. */
  onBroken(reason: string): void;
  /** Called when received messages queue up and the peer has no flow control. */
  onFull?(isFull: boolean): void;
  /** Called when the stream has ended, so that the owner can remove it. */
  onEnded(): void;
}
