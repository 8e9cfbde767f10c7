// The behaviour of every channel, over a rendezvous.
import { describeChannel } from "../../channel/test/contract.ts";
import { startRelayed } from "./pair.js";

describeChannel({
  name: "a rendezvous",
  hasWire: true,
  isStrict: true,
  isResumed: true,
  async open(limits) {
    const relayed = await startRelayed(limits);
    const { harness, accepted } = await relayed.open();
    return {
      left: harness,
      right: await accepted,
      dispose: () => relayed.close(),
    };
  },
});
