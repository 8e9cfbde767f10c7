import { findUnknownFeature, loadUserConfig } from "@codex/config";
import { CommandError, EXIT } from "../exit-codes.js";

/** The settings that a launcher gives an exec-server. */
export interface LaunchSettings {
  config?: readonly string[];
  enable?: readonly string[];
  disable?: readonly string[];
  strictConfig?: boolean;
}

/** Checks settings, which have no effect on an exec-server, as Codex does. @throws CommandError */
export async function checkLaunchSettings(options: LaunchSettings): Promise<void> {
  const { config = [], enable = [], disable = [], strictConfig = false } = options;
  const unknown = findUnknownFeature([...enable, ...disable]);
  if (unknown !== undefined) throw new CommandError(`Unknown feature flag: ${unknown}`, EXIT.failure);
  const shapeless = config.find((setting) => !/^[^=]+=/.test(setting));
  if (shapeless !== undefined) throw new CommandError("-c: expected key=value", EXIT.usage);
  if (!strictConfig) return;
  const { unknownKeys } = await loadUserConfig({ config: [...config] });
  if (unknownKeys[0] !== undefined) throw new CommandError(`--strict-config: ${unknownKeys[0]}`);
}
