import { readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path/posix";

/** Where distributions install it; the PATH of this process is searched next, that of a command never. */
const SYSTEM_PATHS = ["/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap"];

/**
 * A `bwrap` that only root and this user can replace; `refused` lists why others were not used. In a user namespace, root of the
 * host may have no id: an installed file of an unmapped owner counts as root's.
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
    const owners = [0, process.getuid?.(), ...(systemPaths.includes(candidate) ? unmappedIds() : [])];
    const problem = [real, dirname(real)].map((place) => findProblem(place, owners)).find((text) => text !== undefined);
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

/** The id that the kernel shows for users without one in the user namespace of this process; empty outside of a user namespace. */
function unmappedIds(): number[] {
  try {
    const [, , count] = readFileSync("/proc/self/uid_map", "latin1").trim().split(/\s+/);
    return Number(count) === ALL_IDS ? [] : [Number(readFileSync("/proc/sys/kernel/overflowuid", "latin1"))];
  } catch {
    return [];
  }
}

/** Length of the only line of `uid_map` outside of a user namespace. */
const ALL_IDS = 2 ** 32 - 1;

function findProblem(path: string, owners: readonly (number | undefined)[]): string | undefined {
  const { uid, mode } = statSync(path);
  if (!owners.includes(uid)) return `${path} belongs to user ${uid}`;
  return (mode & OTHERS_MAY_WRITE) === 0 ? undefined : `${path} can be written by others`;
}
