import { realpathSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { codexHome, type LoadedConfig } from "@codex/config";
import { readPlainFileSync } from "@codex/plain-file";
import {
  createSandboxSelector,
  type GitDirectories,
  PolicyError,
  type PolicyOptions,
  type PolicyProfile,
  type SandboxSelector,
  type SandboxSettings,
} from "@codex/policy";
import { defined } from "@codex/values";
import { CommandError } from "./exit-codes.js";

/**
 * The configured sandbox. Git directories are known only for an executor in this process.
 * @throws CommandError for settings that are not a valid sandbox
 */
export function openSandbox(settings: SandboxSettings, isOwn: boolean): SandboxSelector {
  try {
    return createSandboxSelector({
      codexHome: resolve(codexHome()),
      ...settings,
      gitDirectories: isOwn ? findGitDirectories : () => undefined,
    });
  } catch (error) {
    if (!(error instanceof PolicyError)) throw error;
    // It begins with the name of the setting.
    const message = error.message.replace(/^\w+/, toSnakeCase);
    throw new CommandError(`sandbox_workspace_write.${message}`, 1, { cause: error });
  }
}

/** The permission profiles that a model may ask for. @throws CommandError */
export const openProfiles = (
  { profiles }: Pick<LoadedConfig, "profiles">,
  isOwn: boolean,
): NonNullable<PolicyOptions["profiles"]> =>
  new Map(
    Array.from(profiles, ([name, { sandbox, network }]): [string, PolicyProfile] => [
      name,
      { sandbox: openSandbox(sandbox, isOwn), ...defined({ network }) },
    ]),
  );

const toSnakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Git directories of a workspace on this host; undefined unless they certainly belong to it. */
function findGitDirectories(workspaceRoot: string): GitDirectories | undefined {
  try {
    const git = join(workspaceRoot, ".git");
    if (statSync(git).isDirectory()) {
      const gitDirectory = realpathSync(git);
      return gitDirectory === git ? { gitDirectory, commonDirectory: gitDirectory } : undefined;
    }
    const named = /^gitdir: (.+)$/m.exec(readGitFile(git))?.[1]?.trim() ?? "";
    const gitDirectory = realpathSync(resolve(workspaceRoot, named));
    const commonDirectory = realpathSync(resolve(gitDirectory, readGitFile(join(gitDirectory, "commondir")).trim()));
    // The checkout has to list the worktree: any process can write a `.git` file that names a directory.
    const back = realpathSync(readGitFile(join(gitDirectory, "gitdir")).trim());
    const isOurs = back === realpathSync(git) && dirname(dirname(gitDirectory)) === commonDirectory;
    return isOurs ? { gitDirectory, commonDirectory } : undefined;
  } catch {
    return undefined;
  }
}

const readGitFile = (path: string): string => readPlainFileSync(path, { maxBytes: MAX_GIT_FILE_BYTES }).toString();

/** Each of these files has one path. */
const MAX_GIT_FILE_BYTES = 64 * 1024;
