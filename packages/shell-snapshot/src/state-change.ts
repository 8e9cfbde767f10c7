import { renderLimits } from "./limit-lines.js";
import { listNewLines, type ShellState } from "./shell-state.js";

/** What startup files changed in a shell. Names and texts are those of its report. */
export interface StateChange {
  /** A text as it is now. */
  text(kind: string): string | undefined;
  /** Whether a text changed. */
  differs(kind: string): boolean;
  /** Lines of a text that are new. */
  newLines(kind: string): string[];
  /** Functions and variables that are gone. */
  removed(kind: "functions" | "variables"): string[];
  /** Functions and variables that are new or different. `isNew`: there was none of that name. */
  changed(kind: "functions" | "variables"): { name: string; text: string; isNew: boolean }[];
}

/**
 * Renders a file that gives a shell the state `now`, in which its startup files left it, from the state `base` without them.
 * @param keeps whether a variable must stay as it is in the environment of the command
 * @returns the file, or why there cannot be one
 */
export type RenderState = (
  base: ShellState,
  now: ShellState,
  keeps: (name: string) => boolean,
) => string | { reason: string };

/** @param unsupported by kind of text, why a state cannot be restored in which that text changed */
export function createRenderer(
  unsupported: Readonly<Record<string, string>>,
  render: (change: StateChange, keeps: (name: string) => boolean) => readonly string[] | { reason: string },
): RenderState {
  return (base, now, keeps) => {
    const change = compareStates(base, now);
    const reason = Object.entries(unsupported).find(([kind]) => change.differs(kind))?.[1];
    if (reason !== undefined) return { reason };
    const lines = render(change, keeps);
    return "reason" in lines ? lines : lines.join("\n");
  };
}

const compareStates = (base: ShellState, now: ShellState): StateChange => ({
  text: (kind) => now.texts.get(kind),
  differs: (kind) => now.texts.get(kind) !== base.texts.get(kind),
  newLines: (kind) => listNewLines(base.texts.get(kind), now.texts.get(kind)),
  removed: (kind) => [...base[kind].keys()].filter((name) => !now[kind].has(name)),
  changed: (kind) =>
    [...now[kind]]
      .filter(([name, text]) => base[kind].get(name) !== text)
      .map(([name, text]) => ({ name, text, isNew: !base[kind].has(name) })),
});

/** The file mode mask, and the soft and hard limits that changed: the same commands in bash and zsh. */
export const renderProcessLimits = ({ text, newLines }: StateChange): string[] => [
  `builtin umask ${text("umask")}`,
  ...renderLimits("S", newLines("soft")),
  ...renderLimits("H", newLines("hard")),
];
