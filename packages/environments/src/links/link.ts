import type { Channel } from "@codex/channel";
import type { ServedProtocol } from "../environment.js";

/** How the remote side of an environment is reached. Each kind of environment has its own. */
export interface EnvironmentLink {
  /**
   * Opens a channel, which the caller owns. Called again after the channel was lost, one call at a time; the peer may then be
   * a different one. Rejects with the reason of `signal`, a ChannelError, an EnvironmentError, or an error whose message says
   * why it cannot be reached.
   */
  open(signal: AbortSignal): Promise<OpenedChannel>;
  /** `open` may also be called while another channel of it is open. Default false. */
  readonly canOpenSeveral?: boolean;
  /** Releases resources such as a program. Idempotent; never rejects. */
  close?(): Promise<void>;
  /** Texts that must not appear in reasons and errors, such as a token. */
  readonly secrets?: readonly string[];
}

/** A channel to the remote side of an environment. */
export interface OpenedChannel {
  channel: Channel;
  /** The protocol declared by the remote side; if absent, the first response determines it. */
  serves?: ServedProtocol;
}
