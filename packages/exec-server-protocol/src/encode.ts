import { encodeId, type RpcId } from "@codex/channel";
import type { OutputStream } from "@codex/executor-protocol";
import type { BodyDelta } from "./http.js";

/** `process/output` in UTF-8 JSON, its chunk written as base64 straight into the message. `allocate` returns its memory. */
export const encodeProcessOutput = (
  processId: string,
  seq: number,
  stream: OutputStream,
  bytes: Uint8Array,
  allocate?: (bytes: number) => Buffer,
): Buffer =>
  encodeAround(
    `{"method":"process/output","params":{"processId":${JSON.stringify(processId)},"seq":${seq},"stream":"${stream}","chunk":"`,
    bytes,
    '"}}',
    allocate,
  );

/** `http/request/bodyDelta` in UTF-8 JSON. */
export const encodeBodyDelta = ({ requestId, seq, bytes, done, error }: BodyDelta): Buffer =>
  encodeAround(
    `{"method":"http/request/bodyDelta","params":{"requestId":${JSON.stringify(requestId)},"seq":${seq},"deltaBase64":"`,
    bytes,
    `","done":${done},"error":${JSON.stringify(error)}}}`,
  );

/** The response `{"id":…,"result":{member: base64, …rest}}` in UTF-8 JSON. It may exceed the longest possible string. */
export function encodeBytesResult(
  id: RpcId,
  member: string,
  bytes: Uint8Array,
  rest: Readonly<Record<string, unknown>> = NOTHING,
): Buffer {
  if (bytes.length <= PIECE_BYTES && rest === NOTHING && typeof id !== "string") {
    // As one string: for a small payload the general way costs more than the payload.
    return Buffer.from(`{"id":${id},"result":{"${member}":"${asBuffer(bytes).toString("base64")}"}}`, "latin1");
  }
  const others = Object.entries(rest).map(([name, value]) => `,${JSON.stringify(name)}:${JSON.stringify(value)}`);
  return encodeAround(`{"id":${encodeId(id)},"result":{${JSON.stringify(member)}:"`, bytes, `"${others.join("")}}}`);
}

/** The response `{"id":…,"result":…}` in UTF-8 JSON. */
export const encodeResult = (id: RpcId, result: unknown): Buffer =>
  Buffer.from(`{"id":${encodeId(id)},"result":${JSON.stringify(result)}}`);

/** The same around a result that is JSON already. */
export const encodeJsonResult = (id: RpcId, json: Buffer): Buffer =>
  Buffer.concat([Buffer.from(`{"id":${encodeId(id)},"result":`), json, Buffer.from("}")]);

/** Bytes encoded per step: a multiple of 3, so that pieces join without padding, and small enough for CPU caches. */
const PIECE_BYTES = 3 * 16 * 1024;

function encodeAround(
  before: string,
  bytes: Uint8Array,
  after: string,
  allocate: (bytes: number) => Buffer = Buffer.allocUnsafe,
): Buffer {
  const source = asBuffer(bytes);
  const encoded = Math.ceil(source.length / 3) * 4;
  const beforeBytes = Buffer.byteLength(before);
  const message = allocate(beforeBytes + encoded + Buffer.byteLength(after));
  message.write(before, 0, "utf8");
  let at = beforeBytes;
  for (let from = 0; from < source.length; from += PIECE_BYTES) {
    at += message.write(source.toString("base64", from, Math.min(from + PIECE_BYTES, source.length)), at, "latin1");
  }
  message.write(after, at, "utf8");
  return message;
}

const NOTHING: Readonly<Record<string, unknown>> = {};

const asBuffer = (bytes: Uint8Array): Buffer =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
