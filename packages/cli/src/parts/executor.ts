import { runExecutor } from "../commands/executor.js";
import { reportError } from "../report-error.js";

/** `codex executor` on its own. Sets the exit code; never rejects. */
export const run = (_name: string, options: Parameters<typeof runExecutor>[0]): Promise<void> =>
  runExecutor(options).catch((error: unknown) => {
    process.exitCode = reportError(error);
  });
