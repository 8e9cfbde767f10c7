import { createCommandSandbox } from "@codex/sandbox";
import { messageOf } from "@codex/values";
import { type Check, ok, warning } from "./check.js";

/** Makes a network for commands, and ends it. */
export const checkNetwork: Check = {
  name: "managed network",
  async run() {
    try {
      const network = await createCommandSandbox().openNetwork([]);
      network.close();
      return ok("commands can be held to allowed hosts");
    } catch (error) {
      return warning(messageOf(error), "with `features.network_proxy` on, commands with a network are refused here");
    }
  },
};
