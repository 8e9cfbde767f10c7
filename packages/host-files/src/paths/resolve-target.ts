import { lstat, readlink, realpath, stat } from "node:fs/promises";
import { errnoOf } from "@codex/exec-backend";
import { baseName, type HostPath, joinPath, parentPath, resolvePath, toHostPath } from "@codex/exec-server-protocol";
import { systemError } from "../errors.js";
import { MAX_LINKS } from "../limits.js";

/** The path that a write to `path` reaches: links resolved, including one to a file that does not exist yet. */
export async function resolveTarget(path: HostPath): Promise<HostPath> {
  let current = path;
  for (let links = 0; links <= MAX_LINKS; links += 1) {
    try {
      return await namedPath(current);
    } catch (error) {
      if (errnoOf(error) !== "ENOENT") throw error;
    }
    const own = joinPath(await namedPath(parentPath(current)), baseName(current));
    const target = await readLink(own);
    if (target === undefined) return own;
    current = resolvePath(parentPath(own), target);
  }
  throw systemError("ELOOP");
}

/** Like `resolveTarget`, but also where ancestors do not exist yet. */
export async function resolveMissing(path: HostPath): Promise<HostPath> {
  try {
    return await resolveTarget(path);
  } catch (error) {
    if (errnoOf(error) !== "ENOENT") throw error;
    return joinPath(await resolveMissing(parentPath(path)), baseName(path));
  }
}

/** The path with links resolved, unless what it leads to has no name here, as behind `/proc/…/root`. */
async function namedPath(path: HostPath): Promise<HostPath> {
  const real = await realPath(path);
  const [reached, named] = await Promise.all([stat(path), stat(real).catch(() => undefined)]);
  return reached.dev === named?.dev && reached.ino === named.ino ? real : path;
}

/** The path with every link resolved. */
export const realPath = async (path: HostPath): Promise<HostPath> =>
  toHostPath(await realpath(path, { encoding: "buffer" }));

/** The target of a link; undefined for other files and missing ones. */
async function readLink(path: HostPath): Promise<HostPath | undefined> {
  try {
    if (!(await lstat(path)).isSymbolicLink()) return undefined;
    return toHostPath(await readlink(path, { encoding: "buffer" }));
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw error;
  }
}
