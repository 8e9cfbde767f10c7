import { codexHome } from "@codex/config";
import { type EnvironmentsConfig, EnvironmentsConfigError, loadEnvironments } from "@codex/environments";
import { CommandError } from "./exit-codes.js";

/** The configuration of environments of this user. @throws EnvironmentsConfigError */
export const loadConfigured = (): Promise<EnvironmentsConfig> =>
  loadEnvironments({ home: codexHome(), env: process.env });

/** Like `loadConfigured`. @throws CommandError with this exit code if the configuration is invalid */
export async function loadChecked(exitCode: number): Promise<EnvironmentsConfig> {
  try {
    return await loadConfigured();
  } catch (error) {
    throw error instanceof EnvironmentsConfigError
      ? new CommandError(error.message, exitCode, { cause: error })
      : error;
  }
}

/** Whether the named environment, else the default one, is this host; then nothing else of the configuration is needed. */
export const isThisHost = ({ default: id, includeLocal }: EnvironmentsConfig, named = id): boolean =>
  named === "local" && includeLocal;
