/**
 * One message between an end and the rendezvous: `codex.exec_server.relay.v1.RelayMessageFrame`, version 1.
 *
 * Without `ack` and `ack_bits`, which neither Codex nor this package sends or reads. Neither segments data.
 */
export interface RelayFrame {
  /** Chosen by the harness, unique at its executor: routes the frame. 1 to `MAX_STREAM_ID_BYTES` bytes of UTF-8. */
  streamId: string;
  body: FrameBody;
}

/** Content of a frame by `kind`. */
export type FrameBody =
  /** `seq` counts the data frames of one stream and direction from 0. Noise: a sealed record; else one JSON message. */
  | { kind: "data"; seq: number; payload: Uint8Array }
  /** Ends the stream. */
  | { kind: "reset"; reason: string }
  /** A message of the Noise handshake. */
  | { kind: "handshake"; payload: Uint8Array }
  /** The first frame of a Codex harness, with value 0; ignored. */
  | { kind: "resume"; nextSeq: number }
  /** An extension: an encrypted control message and its number. Codex ignores it. */
  | { kind: "ack"; counter: number; payload: Uint8Array }
  /** Accepted and ignored; never sent. */
  | { kind: "heartbeat" };

/** The kinds of frames. */
export type FrameKind = FrameBody["kind"];

/** Field numbers of `RelayMessageFrame`. */
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

/** The only version. */
export const FRAME_VERSION = 1;
