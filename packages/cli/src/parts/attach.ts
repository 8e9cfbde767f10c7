import { runAttach } from "@codex/servers/attach";
import { reportError } from "../report-error.js";

/** `codex executor|exec-server --attach` on its own. Sets the exit code; never rejects. */
export const run = (name: "executor" | "exec-server", options: Parameters<typeof runAttach>[1]): Promise<void> =>
  runAttach(name, options).catch((error: unknown) => {
    process.exitCode = reportError(error);
  });
