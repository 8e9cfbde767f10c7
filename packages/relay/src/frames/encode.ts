import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { MAX_STREAM_ID_BYTES } from "../limits.js";
import { FIELD, FRAME_VERSION, type FrameBody, type RelayFrame } from "./frame.js";

/**
 * Encodes a frame as Codex does: fields in ascending order, without those of value 0.
 * @throws RangeError for an empty or too long stream id
 */
export function encodeFrame({ streamId, body }: RelayFrame): Buffer {
  const length = Buffer.byteLength(streamId);
  if (length < 1 || length > MAX_STREAM_ID_BYTES) {
    throw new RangeError(`a stream id has 1 to ${MAX_STREAM_ID_BYTES} bytes, this one ${length}`);
  }
  const head = new BinaryWriter()
    .tag(FIELD.version, WireType.Varint)
    .uint32(FRAME_VERSION)
    .tag(FIELD.streamId, WireType.LengthDelimited)
    .string(streamId);
  const { field, fields, payload } = partsOf(body);
  head.tag(field, WireType.LengthDelimited).uint32(fields.length + payload.length);
  return Buffer.concat([head.finish(), fields, payload]);
}

interface BodyParts {
  /** Field number of the body in the frame. */
  field: number;
  /** Writes its fields, and tag and length of the payload, which comes last. */
  fields: Uint8Array;
  payload: Uint8Array;
}

const NOTHING = new Uint8Array(0);

function partsOf(body: FrameBody): BodyParts {
  switch (body.kind) {
    case "data": {
      const fields = new BinaryWriter();
      if (body.seq !== 0) fields.tag(1, WireType.Varint).uint32(body.seq);
      fields.tag(3, WireType.Varint).uint32(1); // segment_count; segment_index is 0
      return withPayload(FIELD.data, fields, 4, body.payload);
    }
    case "handshake":
      return withPayload(FIELD.handshake, new BinaryWriter(), 1, body.payload);
    case "reset": {
      const fields = new BinaryWriter();
      if (body.reason !== "") fields.tag(1, WireType.LengthDelimited).string(body.reason);
      return { field: FIELD.reset, fields: fields.finish(), payload: NOTHING };
    }
    case "resume": {
      const fields = new BinaryWriter();
      if (body.nextSeq !== 0) fields.tag(1, WireType.Varint).uint32(body.nextSeq);
      return { field: FIELD.resume, fields: fields.finish(), payload: NOTHING };
    }
    case "ack": {
      const fields = new BinaryWriter();
      if (body.counter !== 0) fields.tag(1, WireType.Varint).uint32(body.counter);
      return withPayload(FIELD.ackFrame, fields, 2, body.payload);
    }
    case "heartbeat":
      return { field: FIELD.heartbeat, fields: NOTHING, payload: NOTHING };
  }
}

function withPayload(field: number, fields: BinaryWriter, number: number, payload: Uint8Array): BodyParts {
  if (payload.length > 0) fields.tag(number, WireType.LengthDelimited).uint32(payload.length);
  return { field, fields: fields.finish(), payload };
}
