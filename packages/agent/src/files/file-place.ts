import { resolvePath } from "@codex/apply-patch";
import type { AgentFiles } from "@codex/file-tools";
import { confineFiles } from "@codex/file-tools";

/** The environments whose files the agent's own tools can access. */
export interface FileEnvironments {
  /** Ids that a call may name. */
  readonly ids: readonly string[];
  /** Connects the environment with this id, by default that of the turn, or its fallback; `refused`: why it failed. Never rejects. */
  get(id: string | undefined, signal: AbortSignal): Promise<FileEnvironment | { refused: string } | undefined>;
}

/** An environment with file access. */
export interface FileEnvironment {
  readonly id: string;
  readonly files: AgentFiles;
  /** Default working directory; absolute. */
  readonly cwd: string;
  /** Why this fallback was used; precedes the output of a tool. */
  readonly notice?: string;
}

/** Selects the sandbox of file calls. */
export interface FileSandboxes {
  /** `fileSandbox` undefined: no sandbox. `refused`: the reason why file access is forbidden. Never rejects. */
  sandboxOf(place: { environment: string; cwd: string }): Promise<{ fileSandbox: unknown } | { refused: string }>;
}

/** The location requested by a call. */
export interface FileCall {
  /** Environment named by the call. */
  environment: string | undefined;
  /** Directories to resolve in sequence, starting from that of the turn. */
  directories?: readonly (string | undefined)[];
}

/** The turn of a call, as in `ToolContext`. */
interface FileTurn {
  environment: string | undefined;
  getSelected(environment: string): { cwd: string | undefined } | undefined;
  signal: AbortSignal;
}

/** The resolved location of a call. */
export interface FilePlace {
  environment: FileEnvironment;
  /** Absolute. */
  cwd: string;
  /** Confined to the sandbox of this location. */
  files: AgentFiles;
}

/** Resolves the location of a call, connected: its sandbox depends on its host. `unknown` and `refused` contain the reason for a failure. */
export async function findFilePlace(
  call: FileCall,
  turn: FileTurn,
  { environments, policy }: { environments: FileEnvironments; policy: FileSandboxes },
): Promise<FilePlace | { unknown: string } | { refused: string }> {
  const id = call.environment ?? turn.environment;
  if (id !== undefined && environments.ids.includes(id) && turn.getSelected(id) === undefined) {
    return { unknown: `environment '${id}' is not selected in this turn` };
  }
  const environment = await environments.get(id, turn.signal);
  if (environment === undefined) return { unknown: describeUnknown(id, environments.ids) };
  if ("refused" in environment) return environment;
  const selected = turn.getSelected(environment.id);
  if (selected === undefined) {
    return { refused: `environment '${environment.id}', the fallback of '${id}', is not selected in this turn` };
  }
  const start = selected.cwd ?? environment.cwd;
  const cwd = (call.directories ?? []).filter((one) => one !== undefined).reduce(resolvePath, resolvePath("/", start));
  const chosen = await policy.sandboxOf({ environment: environment.id, cwd });
  if ("refused" in chosen) return chosen;
  return { environment, cwd, files: confineFiles(environment.files, chosen.fileSandbox) };
}

function describeUnknown(id: string | undefined, ids: readonly string[]): string {
  if (id === undefined || ids.length === 0) return "there is no environment whose files could be reached";
  return `there is no environment '${id}'; there are: ${ids.join(", ")}`;
}
