import { OrchestratorError } from "../errors.js";

/** An environment of a conversation or turn. */
export interface EnvironmentSelection {
  id: string;
  /** Absolute directory of the turn, on its host; default the executor's own. */
  cwd?: string;
  /** Absolute directories that belong to the turn, for the sandbox; default `cwd`. */
  workspaceRoots?: readonly string[];
}

/** The environments of a conversation, the first being its default; undefined for all environments. */
export type Selection = readonly EnvironmentSelection[] | undefined;

/** @throws OrchestratorError `unknown_environment`, `bad_option` for one that is named twice */
export function checkSelection(selection: readonly EnvironmentSelection[], known: readonly string[]): void {
  const seen = new Set<string>();
  const isKnown = new Set(known);
  for (const { id } of selection) {
    if (!isKnown.has(id)) {
      const names = known.map((name) => `\`${name}\``).join(", ") || "none";
      throw new OrchestratorError("unknown_environment", `there is no environment \`${id}\`; known: ${names}`);
    }
    if (seen.has(id)) throw new OrchestratorError("bad_option", `environment \`${id}\` is selected twice`);
    seen.add(id);
  }
}
