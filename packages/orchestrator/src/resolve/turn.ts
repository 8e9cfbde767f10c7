import { defined } from "@codex/values";
import type { EnvironmentSelection } from "../catalog/selection.js";

/** Directories of a turn. */
export interface TurnOptions {
  cwd?: string;
  workspaceRoots?: readonly string[];
  environments?: readonly EnvironmentSelection[];
}

/** The options of a call with the directories of its environment: those of the turn are the first environment's. */
export function getTurn<Options extends TurnOptions>(options: Options, environment: string): Options {
  const { environments } = options;
  if (environments === undefined) return options;
  const at = environments.findIndex(({ id }) => id === environment);
  const own = environments[at];
  const { cwd: turnCwd, workspaceRoots: turnRoots, ...rest } = options;
  const isFirst = at === 0;
  const cwd = own?.cwd ?? (isFirst ? turnCwd : undefined);
  const workspaceRoots = own?.workspaceRoots ?? (isFirst && own?.cwd === undefined ? turnRoots : undefined);
  return {
    ...rest,
    ...defined({ cwd, workspaceRoots }),
  } as Options; // without two optional members
}
