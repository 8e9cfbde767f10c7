import { parseWriteStdinRequest, STANDARD_TOOLS } from "@codex/executor-protocol";
import { unwrap } from "./arguments.js";
import type { SessionTool } from "./session-tool.js";

export const writeStdin: SessionTool = {
  spec: STANDARD_TOOLS.write_stdin,
  async call(args, unifiedExec, scope) {
    return unifiedExec.writeStdin(unwrap(parseWriteStdinRequest(args), "write_stdin"), scope);
  },
};
