import { messageOf } from "@codex/values";
import { ChannelError } from "../errors.js";
import type { ChannelLimits } from "../limits.js";
import { describeExcess, findExcess } from "./structure.js";

/** The JSON text of a value. @throws ChannelError when it has none, or one too long or deep for this runtime */
export function stringify(value: unknown): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (cause) {
    throw stringifyError(cause);
  }
  if (text === undefined) throw new ChannelError("unserializable", `a ${typeof value} has no JSON form`);
  return text;
}

function stringifyError(cause: unknown): ChannelError {
  if (cause instanceof RangeError) {
    // V8 throws the same class for a too long string and for a stack overflow.
    return cause.message === "Invalid string length"
      ? new ChannelError("too_large", "value is larger than the longest string of this runtime", { cause })
      : new ChannelError("too_deep", "value nests deeper than the stack of this runtime allows", { cause });
  }
  const [reason] = messageOf(cause).split("\n", 1);
  return new ChannelError("unserializable", `value has no JSON form: ${reason}`, { cause });
}

/** UTF-8 JSON of a value, within the limits. @throws ChannelError */
export function encodeValue(value: unknown, limits: ChannelLimits): Buffer {
  const json = Buffer.from(stringify(value));
  checkSize(json.length, limits);
  checkStructure(json, limits);
  return json;
}

/** Encodes a value after a header in one buffer, which `allocate` creates for a given number of bytes of JSON. */
export function encodeFramed(value: unknown, limits: ChannelLimits, allocate: (bytes: number) => Buffer): Buffer {
  const text = stringify(value);
  const bytes = Buffer.byteLength(text);
  checkSize(bytes, limits);
  const frame = allocate(bytes);
  const at = frame.length - bytes;
  frame.write(text, at);
  checkStructure(frame.subarray(at), limits);
  return frame;
}

/** @throws ChannelError `too_large` */
export function checkSize(bytes: number, limits: ChannelLimits): void {
  if (bytes <= limits.maxSentMessageBytes) return;
  throw new ChannelError(
    "too_large",
    `message of ${bytes} bytes was not sent; the limit is ${limits.maxSentMessageBytes} bytes`,
  );
}

/** @throws ChannelError `too_deep`, `too_many_values` */
export function checkStructure(json: Uint8Array, limits: ChannelLimits): void {
  const excess = findExcess(json, limits);
  if (excess === undefined) return;
  throw new ChannelError(excess, `message was not sent: it ${describeExcess(excess, limits)}`);
}

/** The same bytes, as a Buffer. */
export const asBuffer = (bytes: Uint8Array): Buffer =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
