import { parseExecCommandRequest, STANDARD_TOOLS } from "@codex/executor-protocol";
import { unwrap } from "./arguments.js";
import type { SessionTool } from "./session-tool.js";

export const execCommand: SessionTool = {
  spec: STANDARD_TOOLS.exec_command,
  async call(args, unifiedExec, scope) {
    return unifiedExec.execCommand(unwrap(parseExecCommandRequest(args), "exec_command"), scope);
  },
};
