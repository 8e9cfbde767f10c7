import { parseWriteStdinRequest, STANDARD_TOOLS } from "@codex/executor-protocol";
import { findOwner, unwrap } from "./arguments.js";
import type { SessionTool } from "./session-tool.js";

export const writeStdin: SessionTool = {
  spec: STANDARD_TOOLS.write_stdin,
  async call(args, unifiedExec, scope) {
    const request = unwrap(parseWriteStdinRequest(args), "write_stdin");
    return findOwner(scope, unifiedExec, request.processId).writeStdin(request, scope);
  },
};
