import { runRun } from "../commands/run.js";
import { reportError } from "../report-error.js";
import { runToEnd } from "../run-to-end.js";

/** `codex run` on its own. Sets the exit code; never rejects. */
export const run = (_name: string, options: Parameters<typeof runRun>[1], words: string[]): Promise<void> =>
  runToEnd(() => runRun(words, options), reportError);
