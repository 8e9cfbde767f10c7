import { isAscii } from "node:buffer";
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { MAX_STREAM_ID_BYTES } from "../limits.js";
import { FIELD, FRAME_VERSION, type FrameBody, type FrameKind, type RelayFrame } from "./frame.js";

/** A frame, or why the bytes are invalid. */
export type DecodedFrame = { ok: true; frame: RelayFrame } | { ok: false; problem: string };

/** The routing information of a frame. */
export interface FrameHead {
  streamId: string;
  kind: FrameKind;
}

/**
 * Decodes one frame; never throws. Payloads are views into `bytes`. Stricter than protobuf: a repeated field is an error, so
 * that the rendezvous and both ends interpret a frame in the same way. Unknown fields are skipped. The caller limits the size.
 */
export function decodeFrame(bytes: Uint8Array): DecodedFrame {
  try {
    const { streamId, field, body } = readFields(bytes);
    return { ok: true, frame: { streamId, body: readBody(field, body) } };
  } catch (error) {
    return { ok: false, problem: problemOf(error) };
  }
}

/**
 * Stream id and kind of a frame; undefined if `decodeFrame` would reject it because of either. Does not decode the body, for peers
 * that only forward it.
 */
export function readFrameHead(bytes: Uint8Array): FrameHead | undefined {
  try {
    const { streamId, field } = readFields(bytes);
    return { streamId, kind: KINDS[field]! };
  } catch {
    return undefined;
  }
}

const KINDS: Readonly<Record<number, FrameKind>> = {
  [FIELD.data]: "data",
  [FIELD.ackFrame]: "ack",
  [FIELD.resume]: "resume",
  [FIELD.reset]: "reset",
  [FIELD.heartbeat]: "heartbeat",
  [FIELD.handshake]: "handshake",
};

class FrameProblem extends Error {}

// The library's own errors only name positions.
function problemOf(error: unknown): string {
  return error instanceof FrameProblem ? error.message : "the bytes are not a protobuf message";
}

interface Fields {
  streamId: string;
  /** Field number of the body. */
  field: number;
  body: Uint8Array;
}

function readFields(bytes: Uint8Array): Fields {
  const reader = new BinaryReader(bytes, decodeText);
  let version: number | undefined;
  let streamId: string | undefined;
  let field: number | undefined;
  let body: Uint8Array | undefined;
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag();
    if (number === FIELD.version) {
      requireOnce(version, "version");
      version = readNumber(reader, wireType);
    } else if (number === FIELD.streamId) {
      requireOnce(streamId, "stream_id");
      streamId = readText(reader, wireType, MAX_STREAM_ID_BYTES);
    } else if (number in KINDS) {
      requireOnce(body, "body");
      field = number;
      body = readBytes(reader, wireType);
    } else {
      reader.skip(wireType, number);
    }
  }
  if (version !== FRAME_VERSION) throw new FrameProblem(`version is ${version ?? 0}, not ${FRAME_VERSION}`);
  if (streamId === undefined || streamId === "") throw new FrameProblem("there is no stream_id");
  if (field === undefined || body === undefined) throw new FrameProblem("there is no body");
  return { streamId, field, body };
}

function readBody(field: number, bytes: Uint8Array): FrameBody {
  const kind = KINDS[field]!;
  const values = readValues(bytes, kind);
  switch (kind) {
    case "data":
      if (values.index !== 0 || values.count !== 1) {
        throw new FrameProblem(`data is segment ${values.index} of ${values.count}, not 0 of 1`);
      }
      return { kind, seq: values.number, payload: values.payload };
    case "handshake":
      return { kind, payload: values.payload };
    case "reset":
      return { kind, reason: values.text };
    case "resume":
      return { kind, nextSeq: values.number };
    case "ack":
      return { kind, counter: values.number, payload: values.payload };
    case "heartbeat":
      return { kind };
  }
}

type Member = "number" | "index" | "count" | "payload" | "text";

/** Member of each body by field number. */
const MEMBERS: Readonly<Record<FrameKind, Readonly<Record<number, Member>>>> = {
  data: { 1: "number", 2: "index", 3: "count", 4: "payload" },
  handshake: { 1: "payload" },
  reset: { 1: "text" },
  resume: { 1: "number" },
  ack: { 1: "number", 2: "payload" },
  heartbeat: {},
};

const NOTHING: Uint8Array = new Uint8Array(0);

function readValues(bytes: Uint8Array, kind: FrameKind) {
  const values = { number: 0, index: 0, count: 0, payload: NOTHING, text: "" };
  let seen = 0;
  const reader = new BinaryReader(bytes, decodeText);
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag();
    const member = MEMBERS[kind][number];
    if (member === undefined) {
      reader.skip(wireType, number);
      continue;
    }
    if ((seen & (1 << number)) !== 0) throw new FrameProblem(`field ${number} of ${kind} comes twice`);
    seen |= 1 << number;
    if (member === "payload") values.payload = readBytes(reader, wireType);
    else if (member === "text") values.text = readText(reader, wireType, bytes.length);
    else values[member] = readNumber(reader, wireType);
  }
  return values;
}

function requireOnce(value: unknown, name: string): void {
  if (value !== undefined) throw new FrameProblem(`${name} comes twice`);
}

function readNumber(reader: BinaryReader, wireType: WireType): number {
  if (wireType !== WireType.Varint) throw new FrameProblem("a number is not a varint");
  return reader.uint32();
}

function readBytes(reader: BinaryReader, wireType: WireType): Uint8Array {
  if (wireType !== WireType.LengthDelimited) throw new FrameProblem("bytes have no length");
  // A view into the input: the reader does not copy.
  return reader.bytes();
}

function readText(reader: BinaryReader, wireType: WireType, maxBytes: number): string {
  const bytes = readBytes(reader, wireType);
  if (bytes.length > maxBytes) throw new FrameProblem(`a text has ${bytes.length} bytes, more than ${maxBytes}`);
  return decodeText(bytes);
}

const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function decodeText(bytes: Uint8Array): string {
  if (isAscii(bytes)) return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
  try {
    return UTF8.decode(bytes);
  } catch {
    throw new FrameProblem("a text is not UTF-8");
  }
}
