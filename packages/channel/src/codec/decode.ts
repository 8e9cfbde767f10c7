import { isUtf8 } from "node:buffer";
import type { Malformed, ReceivedValue } from "../channel.js";
import type { ChannelLimits } from "../limits.js";
import { describeExcess, findExcess } from "./structure.js";

/** Decodes a frame into what `receive` returns. Never throws. */
export function decodeFrame(json: Buffer, limits: ChannelLimits): ReceivedValue | Malformed {
  if (json.length > limits.maxMessageBytes) return tooLarge(limits);
  // The parser rejects a BOM, like anything else that is not JSON.
  if (!isUtf8(json)) return malformed(`message of ${json.length} bytes is not valid UTF-8`);
  const excess = findExcess(json, limits);
  if (excess !== undefined) return malformed(`message ${describeExcess(excess, limits)}`);
  try {
    const text = json.toString();
    return new DecodedValue(JSON.parse(text), text, json.length);
  } catch (error) {
    return malformed(`message of ${json.length} bytes is not valid JSON${parserDetail(error)}`);
  }
}

/** The source text is private, so that it appears neither in comparisons nor in logs. */
class DecodedValue implements ReceivedValue {
  readonly kind = "value";
  readonly value: unknown;
  readonly #text: string;
  readonly #bytes: number;

  constructor(value: unknown, text: string, bytes: number) {
    this.value = value;
    this.#text = text;
    this.#bytes = bytes;
  }

  get text(): string {
    return this.#text;
  }

  get bytes(): number {
    return this.#bytes;
  }
}

/** A frame over the limit, which may not have arrived in full. */
export const tooLarge = (limits: ChannelLimits): Malformed =>
  malformed(`message is larger than the limit of ${limits.maxMessageBytes} bytes`);

const malformed = (problem: string): Malformed => ({ kind: "malformed", problem });

/** The parser's reason without its excerpt of the input, which may contain a secret. */
function parserDetail(error: unknown): string {
  if (!(error instanceof SyntaxError)) return "";
  const reason = error.message.replace(/(, )?(\.\.\.)?".*$/s, "");
  return reason === "" ? "" : `: ${reason}`;
}
