import { type ConfigFlags, findUnknownFeature, type LoadedConfig, loadUserConfig } from "@codex/config";
import { type EnvironmentChoice, findEnvironmentProfile } from "./environment-profile.js";
import { CommandError, EXIT } from "./exit-codes.js";
import { say } from "./notice.js";

/**
 * The effective configuration for a command with these flags, in this or another directory, with the permission profile of its environment. Reports ignored settings on
 * stderr. @throws ConfigError
 */
export async function openConfig(
  flags: ConfigFlags & EnvironmentChoice,
  projectDirectory?: string,
): Promise<LoadedConfig> {
  const isChosen = "environmentProfile" in flags;
  const environmentProfile = isChosen ? flags.environmentProfile : await findEnvironmentProfile(flags);
  const config = await loadUserConfig({ ...flags, environmentProfile }, projectDirectory);
  for (const notice of config.notices) say(notice);
  return config;
}

/** Flags of commands that turn features on and off. */
export interface FeatureFlags {
  config?: readonly string[];
  enable?: readonly string[];
  disable?: readonly string[];
}

/** Settings that flags amount to; `-c` wins. @throws CommandError for a feature that Codex does not have */
export function settingsOf({ config = [], enable = [], disable = [] }: FeatureFlags): string[] {
  const unknown = findUnknownFeature([...enable, ...disable]);
  if (unknown !== undefined) throw new CommandError(`Unknown feature flag: ${unknown}`, EXIT.failure);
  return [
    ...enable.map((name) => `features.${name}=true`),
    ...disable.map((name) => `features.${name}=false`),
    ...config,
  ];
}
