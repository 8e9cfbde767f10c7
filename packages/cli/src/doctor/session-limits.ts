import { findLimitSupport } from "@codex/process-host/resources";
import { type Check, ok, warning } from "./check.js";

/** How the limits of sessions would be held. */
export const checkLimits: Check = {
  name: "limits of sessions",
  async run() {
    const { groups, missing, lesser } = findLimitSupport();
    if (groups !== undefined)
      return ok(`memory, processors and processes are held by control groups, version ${groups}`);
    const [reason = ""] = missing.values();
    const names = [...missing.keys()].join(", ");
    return warning(`no limit of ${names}: ${reason}`, lesser.map(({ sentence }) => sentence).join("; "));
  },
};
