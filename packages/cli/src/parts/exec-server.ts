import { runExecServer } from "@codex/servers/exec-server";
import type { LaunchSettings } from "../commands/launch-options.js";
import { reportError } from "../report-error.js";

/** `codex exec-server` on its own. Sets the exit code; never rejects. */
export async function run(_name: string, options: Parameters<typeof runExecServer>[0] & LaunchSettings): Promise<void> {
  const { config, enable, disable, strictConfig } = options;
  try {
    if (config !== undefined || enable !== undefined || disable !== undefined || strictConfig === true) {
      await (await import("../commands/launch-options.js")).checkLaunchSettings(options);
    }
    await runExecServer(options);
  } catch (error) {
    process.exitCode = reportError(error);
  }
}
