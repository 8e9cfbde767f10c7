import type { TomlTable } from "@codex/toml";
import { isTable } from "../tables.js";

/** Why hooks are refused, and how to go on. */
export const NO_HOOKS = "hooks are not run, so that nothing would stop what they stop";
export const HOOKS_OFF = "`-c features.hooks=false` turns them off";

/** Events at which a hook only learns that something ended. */
const ONLY_TOLD = ["Interrupt", "SessionEnd"];

/** Keys beside the events: which hooks are trusted, and where an administrator keeps programs of hooks. */
const NO_EVENTS = ["state", "managed_dir", "windows_managed_dir"];

/** The first event, in a table of hooks by their events, with one that may stop or change something. */
export const findHandlerEvent = (hooks: TomlTable): string | undefined =>
  Object.keys(hooks).find(
    (event) => !ONLY_TOLD.includes(event) && !NO_EVENTS.includes(event) && mayContain(hooks[event], hasHandler),
  );

export const hasHandlers = (hooks: unknown): boolean => !isTable(hooks) || findHandlerEvent(hooks) !== undefined;

const hasHandler = (group: unknown): boolean =>
  !isTable(group) || (group.hooks !== undefined && mayContain(group.hooks, () => true));

/** What is no list, which Codex does not read, may have been meant as one. */
const mayContain = (value: unknown, matches: (entry: unknown) => boolean): boolean =>
  !Array.isArray(value) || value.some(matches);

/** Whether a configuration turns hooks off; also by the feature's old name. */
export function areHooksOff({ features }: TomlTable): boolean {
  return isTable(features) && (features.hooks ?? features.codex_hooks) === false;
}

export const arePluginsOff = ({ features }: TomlTable): boolean => isTable(features) && features.plugins === false;
