import { existsSync } from "node:fs";
import { realpath, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { CommandError, EXIT } from "../exit-codes.js";
import type { AgentCommandOptions } from "./agent-options.js";

/** Where the calls of an agent run. */
export interface Workspace {
  /** Absolute; undefined: the default of a remote executor. */
  readonly cwd: string | undefined;
  /** Additional writable directories. */
  readonly addedRoots: readonly string[];
}

/**
 * Resolves the requested directory: on this host it must exist, and be in a git repository unless that check is disabled.
 * @throws CommandError naming the option
 */
export async function openWorkspace(options: AgentCommandOptions, isOwn: boolean): Promise<Workspace> {
  const { cd, addDir = [] } = options;
  if (!isOwn) return { cwd: cd, addedRoots: addDir };
  const cwd = await realpath(resolve(cd ?? ".")).catch((cause: unknown) => {
    throw new CommandError(`--cd ${cd}: there is no such directory`, EXIT.failure, { cause });
  });
  if (!(await stat(cwd)).isDirectory()) throw new CommandError(`--cd ${cd}: not a directory`);
  const isWaived = options.skipGitRepoCheck === true || isBypassed(options);
  if (!isWaived && !isInRepository(cwd)) {
    throw new CommandError(
      `${cwd} is in no git repository, so what an agent changes there could not be undone; --skip-git-repo-check runs it anyway`,
    );
  }
  return { cwd, addedRoots: addDir.map((directory) => resolve(directory)) };
}

/** No approvals and no sandbox. */
export const isBypassed = ({ dangerouslyBypassApprovalsAndSandbox, yolo }: AgentCommandOptions): boolean =>
  dangerouslyBypassApprovalsAndSandbox === true || yolo === true;

function isInRepository(directory: string): boolean {
  if (existsSync(join(directory, ".git"))) return true;
  const above = dirname(directory);
  return above !== directory && isInRepository(above);
}
