import type { OutputStream } from "./messages.js";

/** The head of a binary frame of live output: a `tool_output` without its chunk, which is the body. */
export interface OutputHead {
  requestId: string;
  processId: number;
  seq: number;
  offset: number;
  stream: OutputStream;
}

/**
 * The head of a binary frame, integers big endian: kind `01` (8 bits), stream (8 bits: 0 stdout, 1 stderr, 2 pty), process
 * id (64 bits, signed), seq (64 bits), offset (64 bits), and the request id in ASCII up to the end.
 */
const KIND_OUTPUT = 1;
const STREAMS: readonly OutputStream[] = ["stdout", "stderr", "pty"];
const FIXED_BYTES = 26;

/** Longest request id that a head can hold, bytes. */
const MAX_REQUEST_ID_BYTES = 1024;

/** Undefined when the request id does not fit: too long, or not ASCII. Such output is sent as JSON. */
export function encodeOutputHead({ requestId, processId, seq, offset, stream }: OutputHead): Uint8Array | undefined {
  if (requestId.length > MAX_REQUEST_ID_BYTES) return undefined;
  const head = new Uint8Array(FIXED_BYTES + requestId.length);
  for (let i = 0; i < requestId.length; i++) {
    const unit = requestId.charCodeAt(i);
    if (unit > 0x7f) return undefined;
    head[FIXED_BYTES + i] = unit;
  }
  head[0] = KIND_OUTPUT;
  head[1] = STREAMS.indexOf(stream);
  const view = new DataView(head.buffer);
  writeInteger(view, 2, processId);
  writeInteger(view, 10, seq);
  writeInteger(view, 18, offset);
  return head;
}

/** The head of a frame, or what is wrong with it. */
export function decodeOutputHead(head: Uint8Array): OutputHead | string {
  if (head[0] !== KIND_OUTPUT) return `binary frame of unknown kind ${head[0] ?? "(none)"}`;
  if (head.length <= FIXED_BYTES || head.length > FIXED_BYTES + MAX_REQUEST_ID_BYTES) {
    const most = FIXED_BYTES + MAX_REQUEST_ID_BYTES;
    return `head of a binary frame has ${head.length} bytes, expected ${FIXED_BYTES + 1} to ${most}`;
  }
  const stream = STREAMS[head[1]!];
  if (stream === undefined) return `binary frame of unknown stream ${head[1]}`;
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength);
  const processId = view.getInt32(2) * TWO_TO_32 + view.getUint32(6);
  const seq = view.getUint32(10) * TWO_TO_32 + view.getUint32(14);
  const offset = view.getUint32(18) * TWO_TO_32 + view.getUint32(22);
  if (!Number.isSafeInteger(processId)) return beyond("processId", processId);
  if (!Number.isSafeInteger(seq)) return beyond("seq", seq);
  if (!Number.isSafeInteger(offset)) return beyond("offset", offset);
  if (seq === 0) return "binary frame with seq 0, expected at least 1";
  const requestId = String.fromCharCode(...head.subarray(FIXED_BYTES));
  return { requestId, processId, seq, offset, stream };
}

const TWO_TO_32 = 2 ** 32;

const beyond = (name: string, value: number): string => `binary frame with ${name} ${value}, beyond 2^53 - 1`;

/** 64 bits, big endian; faster than `setBigInt64`. */
function writeInteger(view: DataView, at: number, value: number): void {
  view.setInt32(at, Math.floor(value / TWO_TO_32));
  view.setUint32(at + 4, value >>> 0);
}
