import { realpath, stat } from "node:fs/promises";
import { posix, resolve } from "node:path";
import type { AgentFiles } from "@codex/agent";
import { CommandError, EXIT } from "../exit-codes.js";
import type { AgentCommandOptions } from "./agent-options.js";
import type { Place } from "./open-place.js";

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
  if (!isWaived(options)) await checkRepository(cwd, ownFiles);
  return { cwd, addedRoots: addDir.map((directory) => resolve(directory)) };
}

/** No approvals and no sandbox. */
export const isBypassed = ({ dangerouslyBypassApprovalsAndSandbox, yolo }: AgentCommandOptions): boolean =>
  dangerouslyBypassApprovalsAndSandbox === true || yolo === true;

const isWaived = (options: AgentCommandOptions): boolean => options.skipGitRepoCheck === true || isBypassed(options);

/**
 * The same check at another environment, by its files, once it is connected. A directory that cannot be examined is not checked: calls
 * that need the environment fail, and say why.
 * @throws CommandError
 */
export async function checkRemoteWorkspace(options: AgentCommandOptions, { executor, files }: Place): Promise<void> {
  const cwd = options.cd ?? executor.host?.cwd;
  if (isWaived(options) || cwd === undefined || executor.offlineReason !== undefined) return;
  await checkRepository(cwd, files);
}

type Metadata = Pick<AgentFiles, "getMetadata">;

/** Whether `.git` says so there, or in a directory above: a file, or a directory with a HEAD. A sandbox leaves an empty directory. */
async function checkRepository(cwd: string, files: Metadata): Promise<void> {
  for (let directory = cwd; ; directory = posix.dirname(directory)) {
    const git = posix.join(directory, ".git");
    const found = await files.getMetadata(git).catch(() => undefined);
    if (found?.isFile === true && found.size > 0) return;
    if (found?.isDirectory === true && (await files.getMetadata(posix.join(git, "HEAD")).catch(() => undefined)))
      return;
    if (posix.dirname(directory) === directory) break;
  }
  throw new CommandError(
    `${cwd} is in no git repository, so what an agent changes there could not be undone; --skip-git-repo-check runs it anyway`,
  );
}

const ownFiles: Metadata = {
  async getMetadata(path) {
    const found = await stat(path);
    const { size, mtimeMs: modifiedAtMs } = found;
    return { isFile: found.isFile(), isDirectory: found.isDirectory(), isSymlink: false, size, modifiedAtMs };
  },
};
