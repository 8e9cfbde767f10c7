import { realpathSync, statSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path/posix";

/** Where distributions install it; the PATH of this process comes after, that of a command never. */
const SYSTEM_PATHS = ["/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap"];

/**
 * A `bwrap` that nobody but root and this user can replace. `refused` tells of those that were left out.
 */
export function findBubblewrap(
  path: string = process.env.PATH ?? "",
  systemPaths: readonly string[] = SYSTEM_PATHS,
): { path: string | undefined; refused: string[] } {
  const refused: string[] = [];
  const onPath = path
    .split(":")
    .filter(isAbsolute)
    .map((directory) => join(directory, "bwrap"));
  for (const candidate of new Set([...systemPaths, ...onPath])) {
    const real = toReal(candidate);
    if (real === undefined) continue;
    const problem = [real, dirname(real)].map(findProblem).find((text) => text !== undefined);
    if (problem === undefined) return { path: real, refused };
    refused.push(`${candidate} was not used: ${problem}`);
  }
  return { path: undefined, refused };
}

function toReal(path: string): string | undefined {
  try {
    const real = realpathSync.native(path);
    return statSync(real).isFile() ? real : undefined;
  } catch {
    return undefined;
  }
}

const OTHERS_MAY_WRITE = 0o022;

function findProblem(path: string): string | undefined {
  const { uid, mode } = statSync(path);
  if (uid !== 0 && uid !== process.getuid?.()) return `${path} belongs to user ${uid}`;
  return (mode & OTHERS_MAY_WRITE) === 0 ? undefined : `${path} can be written by others`;
}
