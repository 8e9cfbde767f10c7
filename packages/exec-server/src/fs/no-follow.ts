import { constants } from "node:fs";
import { lstat, open, readlink } from "node:fs/promises";
import { baseName, type HostPath, isSamePath, joinPath, parentPath, toHostPath } from "../protocol/host-path.js";
import { systemError } from "./errors.js";

/** Not among Node's constants; the value is the same on every Linux that Node runs on. */
const O_PATH = 0o10000000;

/**
 * Gives `use` a path for the last component of `path` whose directory was reached without passing a symbolic link; the
 * component itself is for `use` to look at. On Linux the directory is held open meanwhile, so nobody can put a link in
 * its place; elsewhere links are looked for beforehand, which leaves a moment.
 * @throws ENOTDIR for a link on the way
 */
export async function withoutLinks<T>(path: HostPath, use: (entry: HostPath) => Promise<T>): Promise<T> {
  const parent = parentPath(path);
  if (isSamePath(parent, path)) return use(path);
  if (process.platform !== "linux") {
    await refuseLinks(parent);
    return use(path);
  }
  const directory = await open(parent, O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    const held = `/proc/self/fd/${directory.fd}`;
    const reached = toHostPath(await readlink(held, { encoding: "buffer" }));
    if (!isSamePath(reached, parent)) throw systemError("ENOTDIR");
    return await use(joinPath(held, baseName(path)));
  } finally {
    await directory.close();
  }
}

/**
 * Gives `use` a path for the directory `path`, which is no link itself. On Linux it is held open and stays the same
 * directory whatever happens to its name.
 * @throws ENOTDIR
 */
export async function withDirectory<T>(path: HostPath, use: (directory: HostPath) => Promise<T>): Promise<T> {
  if (process.platform !== "linux") {
    if (!(await lstat(path)).isDirectory()) throw systemError("ENOTDIR");
    return use(path);
  }
  const directory = await open(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    return await use(`/proc/self/fd/${directory.fd}`);
  } finally {
    await directory.close();
  }
}

async function refuseLinks(directory: HostPath): Promise<void> {
  const parent = parentPath(directory);
  if (!isSamePath(parent, directory)) await refuseLinks(parent);
  if (!(await lstat(directory)).isDirectory()) throw systemError("ENOTDIR");
}
