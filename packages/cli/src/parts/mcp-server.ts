import { runMcpServer } from "../commands/mcp-server.js";
import { reportError } from "../report-error.js";
import { runToEnd } from "../run-to-end.js";

/** `codex mcp-server` on its own. Sets the exit code; never rejects. */
export const run = (_name: string, options: Parameters<typeof runMcpServer>[0]): Promise<void> =>
  runToEnd(() => runMcpServer(options), reportError);
