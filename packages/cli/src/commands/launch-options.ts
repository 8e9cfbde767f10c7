import { loadUserConfig } from "@codex/config";
import { CommandError, EXIT } from "../exit-codes.js";
import { type FeatureFlags, settingsOf } from "../open-config.js";

/** The settings that a launcher gives an exec-server. */
export interface LaunchSettings extends FeatureFlags {
  strictConfig?: boolean;
}

/** Checks settings, which have no effect on an exec-server, as Codex does. @throws CommandError */
export async function checkLaunchSettings(options: LaunchSettings): Promise<void> {
  const { config = [], strictConfig = false } = options;
  settingsOf(options);
  const shapeless = config.find((setting) => !/^[^=]+=/.test(setting));
  if (shapeless !== undefined) throw new CommandError("-c: expected key=value", EXIT.usage);
  if (!strictConfig) return;
  const { unknownKeys } = await loadUserConfig({ config: [...config] });
  if (unknownKeys[0] !== undefined) throw new CommandError(`--strict-config: ${unknownKeys[0]}`);
}
