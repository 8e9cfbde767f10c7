/**
 * One end of an ordered, bounded pipe of JSON values. A channel frames, bounds and carries messages without interpreting them.
 *
 * Memory is bounded on both sides: `send` resolves only when the peer has room again, and nothing more is read from
 * the wire while received values wait for `receive`. The owner of a channel must close it, also after its end.
 */
export interface Channel extends AsyncDisposable {
  /**
   * Sends one JSON value. Order is the order of the calls. Resolves immediately below the high-water mark, else when the
   * queue has drained to half of it: awaiting it applies the back-pressure of a slow reader.
   * Rejects with ChannelError `closed` (nothing more will be delivered), `too_large`, `too_deep`,
   * `too_many_values` or `unserializable` (this value alone was not sent, the channel stays open). A rejection that
   * is not awaited is ignored: it does not end the process.
   */
  send(value: unknown): Promise<void>;
  /**
   * `send` of a value that is already encoded: UTF-8 JSON without a line feed. Not parsed again, only measured.
   * The channel takes ownership of the bytes: they must not be changed before `onWritten` is called, once they have left
   * this process. Not every channel calls it, and none does for bytes that were not sent.
   */
  sendEncoded(json: Uint8Array, onWritten?: () => void): Promise<void>;
  /**
   * The next value, or undefined after the end. A value that could not be read is reported in its place.
   * Values that arrived before the peer's end are still delivered.
   */
  receive(): Promise<Received | undefined>;
  /** Binary frames; undefined where the wire cannot carry them. */
  readonly binary?: BinaryFrames | undefined;
  /**
   * Stops receiving, flushes what was sent (up to a deadline) and closes. Idempotent; never rejects. `await using` calls it
   * without options.
   */
  close(options?: CloseOptions): Promise<void>;
  /**
   * Pings the peer; resolves with false when nothing arrived within `deadlineMs` milliseconds. Never rejects. Absent where the
   * wire has no ping.
   */
  isPeerAlive?(deadlineMs: number): Promise<boolean>;
  /**
   * Resolves at the first cause that ends the channel. Never rejects. Over stdio a peer that ended may still read
   * what is sent until `close`.
   */
  readonly closed: Promise<ChannelEnd>;
  /** Bytes of text that came before the first message and were ignored. Absent where there is none. */
  readonly leadingTextBytes?: number;
}

/** Options of `Channel.close`. */
export interface CloseOptions {
  /** Milliseconds for writing what was sent; after them it is dropped. Default 5000. */
  deadlineMs?: number;
  /** Drop the connection without a closing handshake: the peer of a websocket sees a broken connection. */
  abrupt?: boolean;
}

/** Binary frames, ordered together with the JSON values. `codec/binary-frame.ts` describes their layout. */
export interface BinaryFrames {
  /** Enables reading binary frames. Until then one is `malformed`, as for a peer that supports only JSON. */
  accept(): void;
  /**
   * Sends a head of at most 65,535 bytes and a body to a peer that is known to accept them. Settles as `send` does. The
   * channel owns the body until `onWritten` is called; not every channel calls it, and none does for a body that was not sent.
   */
  send(head: Uint8Array, body: Uint8Array, onWritten?: () => void): Promise<void>;
  /** `onWritten` is called for every body that was sent, once the channel no longer reads it, and its receiver has a copy. */
  readonly reportsWritten: boolean;
}

/** `malformed`: one frame was not JSON or exceeded a limit; it was skipped, and the channel stays open. */
export type Received = ReceivedValue | ReceivedBytes | Malformed;

export interface Malformed {
  kind: "malformed";
  problem: string;
}

export interface ReceivedValue {
  kind: "value";
  value: unknown;
  /** The JSON it was parsed from, for what parsing does not preserve: repeated keys, long integers. */
  readonly text?: string;
  /** Length of that JSON in bytes. */
  readonly bytes?: number;
}

/** A part of a binary frame. A body is delivered as it arrives, in one part or several, in order. */
export interface ReceivedBytes {
  kind: "bytes";
  /** The head of the frame; the same in all of its parts. */
  head: Buffer;
  /** Offset of these bytes in the body. */
  at: number;
  bytes: Buffer;
  /** The body ends with them. */
  isLast: boolean;
}

/** How a channel ended: our close, the peer's orderly end, or a failure of the wire. */
export type ChannelEnd =
  | { kind: "closed" }
  | { kind: "peer_closed"; detail?: string }
  | { kind: "failed"; error: Error };
