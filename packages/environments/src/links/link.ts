import type { Channel } from "@codex/channel";
import type { ServedProtocol } from "../environment.js";

/** How the remote side of an environment is reached. Each kind of environment has its own. */
export interface EnvironmentLink {
  /**
   * Opens a channel, which the caller owns. Called again, one at a time, when the channel was lost: the remote side may be
   * another one then. Rejects with the reason of `signal`, a ChannelError, an EnvironmentError, or an error whose message says
   * why it cannot be reached.
   */
  open(signal: AbortSignal): Promise<OpenedChannel>;
  /** Frees what is behind the channels, such as a program. Idempotent; never rejects. */
  close?(): Promise<void>;
  /** Texts that no reason or error may show, such as a token. */
  readonly secrets?: readonly string[];
}

/** A channel to the remote side of an environment. */
export interface OpenedChannel {
  channel: Channel;
  /** What the remote side said that it serves; absent: its first answer tells. */
  serves?: ServedProtocol;
}
