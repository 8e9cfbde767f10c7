import { runExec } from "../commands/exec.js";
import { reportError } from "../report-error.js";
import { runToEnd } from "../run-to-end.js";

/** `codex exec [PROMPT]` on its own. Sets the exit code; never rejects. */
export const run = (_name: string, options: Parameters<typeof runExec>[2], words: string[]): Promise<void> =>
  runToEnd(() => runExec(words[0], { kind: "new" }, options), reportError);
