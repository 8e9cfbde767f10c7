import { resolvePath } from "@codex/apply-patch";
import type { AgentFiles } from "./agent-files.js";
import { confineFiles } from "./confined-files.js";

/** The environments whose files the agent's own tools reach. */
export interface FileEnvironments {
  /** Ids of those that a call may name. */
  readonly ids: readonly string[];
  /** The one with this id, or the one of the turn; undefined where there is none. */
  get(id: string | undefined): FileEnvironment | undefined;
}

/** An environment whose files can be reached. */
export interface FileEnvironment {
  readonly id: string;
  readonly files: AgentFiles;
  /** Where a turn works that names no directory; absolute. */
  readonly cwd: string;
}

/** Chooses what file calls carry as sandbox. */
export interface FileSandboxes {
  /** Undefined: none. `refused`: nothing is to be done there, and why. */
  sandboxOf(place: { environment: string; cwd: string }): { fileSandbox: unknown } | { refused: string };
}

/** Where a call wants to work with files. */
export interface FileCall {
  /** Environment that it names. */
  environment: string | undefined;
  /** Directories that follow each other from that of the turn, each relative to the one before. */
  directories?: readonly (string | undefined)[];
}

/** Where a call works with files. */
export interface FilePlace {
  environment: FileEnvironment;
  /** Absolute. */
  cwd: string;
  /** Held by the sandbox of the place. */
  files: AgentFiles;
}

/** Finds the files that a call means, or says why there are none. */
export function findFilePlace(
  call: FileCall,
  turn: { environment: string | undefined; cwd: string | undefined },
  { environments, policy }: { environments: FileEnvironments; policy: FileSandboxes },
): FilePlace | { unknown: string } | { refused: string } {
  const id = call.environment ?? turn.environment;
  const environment = environments.get(id);
  if (environment === undefined) return { unknown: describeUnknown(id, environments.ids) };
  const isTurns = id === undefined || id === turn.environment;
  const start = (isTurns ? turn.cwd : undefined) ?? environment.cwd;
  const cwd = (call.directories ?? []).filter((one) => one !== undefined).reduce(resolvePath, resolvePath("/", start));
  const chosen = policy.sandboxOf({ environment: environment.id, cwd });
  if ("refused" in chosen) return chosen;
  return { environment, cwd, files: confineFiles(environment.files, chosen.fileSandbox) };
}

function describeUnknown(id: string | undefined, ids: readonly string[]): string {
  if (id === undefined || ids.length === 0) return "there is no environment whose files could be reached";
  return `there is no environment '${id}'; there are: ${ids.join(", ")}`;
}
