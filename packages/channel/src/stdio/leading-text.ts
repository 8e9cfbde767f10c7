import type { Malformed, ReceivedValue } from "../channel.js";
import { decodeFrame } from "../codec/decode.js";
import { type ChannelLimits, DEFAULT_CHANNEL_LIMITS } from "../limits.js";

/** Text that a program may print before its first message, bytes. */
const MAX_LEADING_TEXT_BYTES = 256 * 1024;
/** Places of a line at which a message is looked for. */
const MAX_PLACES = 16;

const OPENING_BRACE = 0x7b;

/**
 * What a program prints before its first message: startup files of a shell and ssh hosts print greetings, set the title of a terminal and
 * print prompts, also in front of the message in the same line. It is ignored up to a limit.
 */
export class LeadingText {
  /** Bytes that were ignored. */
  bytes = 0;
  readonly #limits: ChannelLimits;

  constructor(limits: ChannelLimits) {
    this.#limits = limits;
  }

  /** The first message, if it is in this line; undefined when the line is only text; malformed over the limit. */
  take(line: Buffer | "too_long"): ReceivedValue | Malformed | undefined {
    const message = line === "too_long" ? undefined : findMessage(line, this.#limits);
    if (message !== undefined) return message;
    this.bytes += line === "too_long" ? this.#limits.maxMessageBytes : line.length;
    if (this.bytes <= MAX_LEADING_TEXT_BYTES) return undefined;
    const problem = `more than ${MAX_LEADING_TEXT_BYTES} bytes of text were printed before the first message`;
    return { kind: "malformed", problem };
  }
}

/** The JSON object that ends a line, after text, if it can be a message of a protocol; undefined when there is none. */
export function findMessage(line: Buffer, limits: ChannelLimits = DEFAULT_CHANNEL_LIMITS): ReceivedValue | undefined {
  let at = line.indexOf(OPENING_BRACE);
  for (let place = 0; at !== -1 && place < MAX_PLACES; place += 1) {
    const received = decodeFrame(at === 0 ? line : line.subarray(at), limits);
    if (received.kind === "value" && isMessage(received.value)) return received;
    at = line.indexOf(OPENING_BRACE, at + 1);
  }
  return undefined;
}

/** Messages have one of these; JSON that a startup file prints, such as a line of a log, most likely has none. */
const isMessage = (value: unknown): boolean =>
  typeof value === "object" && value !== null && ["id", "method", "type"].some((name) => name in value);
