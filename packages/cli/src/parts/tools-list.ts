import { runToolsList } from "../commands/tools-list.js";
import { reportError } from "../report-error.js";
import { runToEnd } from "../run-to-end.js";

/** `codex tools list` on its own. Sets the exit code; never rejects. */
export const run = (_name: string, options: Parameters<typeof runToolsList>[0]): Promise<void> =>
  runToEnd(() => runToolsList(options), reportError);
