import { createNative } from "@codex/native";
import { messageOf } from "@codex/values";
import { type Check, ok, warning } from "./check.js";

/** Opens a gate, which tries what it needs of the system, and closes it. */
export const checkGate: Check = {
  name: "exec gate",
  async run() {
    try {
      const gate = await createNative().openGate();
      const { verifies } = gate;
      await gate.close();
      return ok(verifies ? "programs are judged where they start, and compared with what was judged" : UNVERIFIED);
    } catch (error) {
      return warning(
        messageOf(error),
        "rules that forbid hold for what the text of a command shows, not for each program that it starts",
      );
    }
  },
};

const UNVERIFIED =
  "programs are judged where they start; one that is changed meanwhile is not noticed (Linux 5.19 and ptrace)";
