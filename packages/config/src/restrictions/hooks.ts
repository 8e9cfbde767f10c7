import type { TomlTable } from "@codex/toml";
import { isTable } from "../tables.js";

/** Why hooks are refused, and how to go on. */
export const NO_HOOKS = "hooks are not run, so that nothing would stop what they stop";
export const HOOKS_OFF = "`-c features.hooks=false` turns them off";

/** Events at which a hook only learns that something ended. */
const ONLY_TOLD = ["Interrupt", "SessionEnd"];

/** The first event, in a table of hooks by their events, with one that may stop or change something. */
export const findHandlerEvent = (hooks: unknown): string | undefined =>
  isTable(hooks)
    ? Object.keys(hooks).find((event) => !ONLY_TOLD.includes(event) && toList(hooks[event]).some(hasHandler))
    : undefined;

export const hasHandlers = (hooks: unknown): boolean => findHandlerEvent(hooks) !== undefined;

const hasHandler = (group: unknown): boolean => isTable(group) && toList(group.hooks).length > 0;

const toList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** Whether a configuration turns hooks off; also by the feature's old name. */
export function areHooksOff({ features }: TomlTable): boolean {
  return isTable(features) && (features.hooks ?? features.codex_hooks) === false;
}

export const arePluginsOff = ({ features }: TomlTable): boolean => isTable(features) && features.plugins === false;
