import { getAncestors } from "@codex/apply-patch";
import { type AgentFiles, isMissing } from "@codex/file-tools";

/**
 * Lists a project's directories from the root to the working directory. The root is the nearest ancestor that contains a
 * marker; without one the project is the working directory only.
 */
export async function findProjectDirectories(
  files: Pick<AgentFiles, "getMetadata">,
  cwd: string,
  markers: readonly string[],
): Promise<string[]> {
  const directories = cwd === "/" ? ["/"] : [cwd, ...getAncestors(cwd)];
  if (markers.length === 0) return [cwd];
  for (const [index, directory] of directories.entries()) {
    for (const marker of markers) {
      if (await exists(files, joinName(directory, marker))) return directories.slice(0, index + 1).reverse();
    }
  }
  return [cwd];
}

/** Whether a file or directory exists. An unreadable path counts as missing. */
async function exists(files: Pick<AgentFiles, "getMetadata">, path: string): Promise<boolean> {
  try {
    await files.getMetadata(path);
    return true;
  } catch (error) {
    // A lost connection must reach the caller; errors of the file call have a numeric code.
    if (isMissing(error) || (error instanceof Error && "code" in error && typeof error.code === "number")) return false;
    throw error;
  }
}

/** Joins a directory and a name. */
export const joinName = (directory: string, name: string): string => `${directory === "/" ? "" : directory}/${name}`;
