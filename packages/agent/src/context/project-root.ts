import { getAncestors } from "@codex/apply-patch";
import { type AgentFiles, isMissing } from "../files/agent-files.js";

/**
 * The directories of a project, root first, the working directory last. The root is the nearest directory with one of the
 * markers; without any the project is the working directory alone. Looks upwards only as far as that.
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

/** A marker may be a file or a directory. What cannot be looked at is not there. */
async function exists(files: Pick<AgentFiles, "getMetadata">, path: string): Promise<boolean> {
  try {
    await files.getMetadata(path);
    return true;
  } catch (error) {
    // Without a connection nothing is known: the caller has to hear of it.
    if (isMissing(error) || (error instanceof Error && "code" in error && typeof error.code === "number")) return false;
    throw error;
  }
}

/** The path of a name in a directory. */
export const joinName = (directory: string, name: string): string => `${directory === "/" ? "" : directory}/${name}`;
