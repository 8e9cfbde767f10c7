/**
 * One message between an end and the rendezvous: `codex.exec_server.relay.v1.RelayMessageFrame`, version 1.
 *
 * Its fields `ack` and `ack_bits` are not here: neither Codex nor we send or read them. Data is never segmented by either.
 */
export interface RelayFrame {
  /** Chosen by the harness, unique at its executor: routes the frame. 1 to `MAX_STREAM_ID_BYTES` bytes of UTF-8. */
  streamId: string;
  body: FrameBody;
}

/** What a frame carries, by `kind`. */
export type FrameBody =
  /** `seq` counts the data frames of one stream and direction from 0. Noise: a sealed record; else one JSON message. */
  | { kind: "data"; seq: number; payload: Uint8Array }
  /** Ends the stream. */
  | { kind: "reset"; reason: string }
  /** A message of the Noise handshake. */
  | { kind: "handshake"; payload: Uint8Array }
  /** What a harness of Codex sends first, with 0; not acted upon. */
  | { kind: "resume"; nextSeq: number }
  /** Our own: a sealed control message, and its number. Codex sends none, and ignores them. */
  | { kind: "ack"; counter: number; payload: Uint8Array }
  /** Accepted and ignored; never sent. */
  | { kind: "heartbeat" };

/** The kinds of frames. */
export type FrameKind = FrameBody["kind"];

/** The number of each field of `RelayMessageFrame`. */
export const FIELD = {
  version: 1,
  streamId: 2,
  ack: 3,
  ackBits: 4,
  data: 5,
  ackFrame: 6,
  resume: 7,
  reset: 8,
  heartbeat: 9,
  handshake: 10,
} as const;

/** The only version there is. */
export const FRAME_VERSION = 1;
