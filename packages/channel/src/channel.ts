/**
 * One end of an ordered, bounded pipe of JSON values. A channel knows no message: it frames, bounds and carries.
 *
 * Memory is bounded on both sides: `send` resolves only when the peer has room again, and nothing more is read from
 * the wire while received values wait to be taken by `receive`.
 */
export interface Channel {
  /**
   * Sends one JSON value. Order is the order of the calls. Resolves at once below the high-water mark, else when the
   * queue has drained below it: whoever awaits it is held back by a slow reader.
   * @throws ChannelError `closed` (nothing was or will be delivered from now on), `too_large` or `too_deep`
   *   (this value alone was not sent, the channel stays open).
   */
  send(value: unknown): Promise<void>;
  /** `send` of a value that is already encoded: UTF-8 JSON without a newline. Not parsed again, only measured. */
  sendEncoded(json: Uint8Array): Promise<void>;
  /** The next value, or undefined after the end. A value that could not be read is reported in its place. */
  receive(): Promise<Received | undefined>;
  /** Stops receiving, flushes what was sent (up to a deadline) and closes. Idempotent; never rejects. */
  close(): Promise<void>;
  /** Resolves, never rejects, when the channel is gone for whatever cause. */
  readonly closed: Promise<ChannelEnd>;
}

/** `malformed`: one frame was no JSON or over a limit; it was skipped and the channel goes on. */
export type Received = { kind: "value"; value: unknown } | { kind: "malformed"; problem: string };

/** How a channel ended: our close, the peer's orderly end, or a failure of the wire. */
export type ChannelEnd =
  | { kind: "closed" }
  | { kind: "peer_closed"; detail?: string }
  | { kind: "failed"; error: Error };
