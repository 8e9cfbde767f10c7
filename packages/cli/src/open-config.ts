import { type ConfigFlags, type LoadedConfig, loadUserConfig } from "@codex/config";
import { say } from "./notice.js";

/**
 * The effective configuration for a command with these flags, in this or another directory. Reports ignored settings on
 * stderr. @throws ConfigError
 */
export async function openConfig(flags: ConfigFlags, projectDirectory?: string): Promise<LoadedConfig> {
  const config = await loadUserConfig(flags, projectDirectory);
  for (const notice of config.notices) say(notice);
  return config;
}
