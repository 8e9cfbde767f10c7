import { isUtf8 } from "node:buffer";
import type { Received } from "../channel.js";
import type { ChannelLimits } from "../limits.js";
import { isDeeperThan } from "./depth.js";

/** One frame as `receive` hands it out. Never throws. */
export function decodeFrame(json: Buffer, limits: ChannelLimits): Received {
  if (json.length > limits.maxMessageBytes) return tooLarge(limits);
  // A BOM, like anything else that is no JSON, is found by the parser.
  if (!isUtf8(json)) return malformed(`message of ${json.length} bytes is not valid UTF-8`);
  if (isDeeperThan(json, limits.maxDepth)) {
    return malformed(`message nests deeper than ${limits.maxDepth} levels of arrays and objects`);
  }
  try {
    return { kind: "value", value: JSON.parse(json.toString()) };
  } catch (error) {
    return malformed(`message of ${json.length} bytes is not valid JSON${parserDetail(error)}`);
  }
}

/** A frame that was longer than the limit; it may not have been seen whole. */
export const tooLarge = (limits: ChannelLimits): Received =>
  malformed(`message is larger than the limit of ${limits.maxMessageBytes} bytes`);

const malformed = (problem: string): Received => ({ kind: "malformed", problem });

/** The parser's reason without the excerpt of the input that it quotes: that may hold a secret. */
function parserDetail(error: unknown): string {
  if (!(error instanceof SyntaxError)) return "";
  const reason = error.message.replace(/(, )?(\.\.\.)?".*$/s, "");
  return reason === "" ? "" : `: ${reason}`;
}
