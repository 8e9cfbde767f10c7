import { runExecServer } from "@codex/servers/exec-server";
import { reportError } from "../report-error.js";

/** `codex exec-server` on its own. Sets the exit code; never rejects. */
export const run = (_name: string, options: Parameters<typeof runExecServer>[0]): Promise<void> =>
  runExecServer(options).catch((error: unknown) => {
    process.exitCode = reportError(error);
  });
