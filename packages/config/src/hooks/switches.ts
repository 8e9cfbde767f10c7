import type { TomlTable } from "@codex/toml";
import { isTable } from "../tables.js";

/** Whether a configuration turns hooks off; also by the feature's old name. */
export function areHooksOff({ features }: TomlTable): boolean {
  return isTable(features) && (features.hooks ?? features.codex_hooks) === false;
}

export const arePluginsOff = ({ features }: TomlTable): boolean => isTable(features) && features.plugins === false;

/** How to go on without hooks. */
export const HOOKS_OFF = "`-c features.hooks=false` turns hooks off";
