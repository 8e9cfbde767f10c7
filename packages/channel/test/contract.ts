import type { ChannelLimits } from "@codex/channel";
import { afterEach, describe } from "vitest";
import { describeBackPressure } from "./contract/back-pressure.js";
import { describeBinaryFrames } from "./contract/binary-frames.js";
import { describeClosing } from "./contract/closing.js";
import { describeLimits } from "./contract/limits.js";
import type { Pair, Transport } from "./contract/transport.js";
import { describeValues } from "./contract/values.js";

/** The behaviour of every channel, whatever its transport. */
export function describeChannel(transport: Transport): void {
  describe(`channel over ${transport.name}`, () => {
    const open: Pair[] = [];
    const connect = async (limits?: Partial<ChannelLimits>): Promise<Pair> => {
      const pair = await transport.open(limits);
      open.push(pair);
      return pair;
    };
    afterEach(async () => {
      for (const pair of open.splice(0)) await pair.dispose();
    });

    const context = { transport, connect };
    describeValues(context);
    describeLimits(context);
    describeBinaryFrames(context);
    describeBackPressure(context);
    describeClosing(context);
  });
}
