import { constants } from "node:fs";
import { lstat, open, readlink } from "node:fs/promises";
import { baseName, type HostPath, isSamePath, joinPath, parentPath, toHostPath } from "@codex/exec-server-protocol";
import { systemError } from "../errors.js";

/** Not among Node's constants; the value is the same on every Linux that Node runs on. */
const O_PATH = 0o10000000;

/**
 * Calls `use` with a path of the last component of `path` whose directory was reached without following a symbolic link;
 * `use` checks the component itself. On Linux the directory is held open in the meantime, so it cannot be replaced by a link;
 * elsewhere links are checked before, which leaves a race.
 * @throws ENOTDIR for a link in the directory part
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

/** An open directory, which on Linux stays the same whatever happens to its name. The caller closes it. */
export interface HeldDirectory {
  /** Valid until it is closed. */
  path: HostPath;
  /** Device and inode: unique among the directories that exist at the same time. */
  identity: string;
  close(): Promise<void>;
}

/** Opens the directory `path`. @throws ENOTDIR for a link or another kind of file */
export async function holdDirectory(path: HostPath): Promise<HeldDirectory> {
  if (process.platform !== "linux") {
    const there = await lstat(path);
    if (!there.isDirectory()) throw systemError("ENOTDIR");
    return { path, identity: `${there.dev}:${there.ino}`, close: async () => {} };
  }
  const directory = await open(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    const { dev, ino } = await directory.stat();
    return { path: `/proc/self/fd/${directory.fd}`, identity: `${dev}:${ino}`, close: () => directory.close() };
  } catch (error) {
    await directory.close();
    throw error;
  }
}

async function refuseLinks(directory: HostPath): Promise<void> {
  const parent = parentPath(directory);
  if (!isSamePath(parent, directory)) await refuseLinks(parent);
  if (!(await lstat(directory)).isDirectory()) throw systemError("ENOTDIR");
}
