import { fstat, type Stats } from "node:fs";
import { readdir, readFile, readlink, realpath } from "node:fs/promises";
import { promisify } from "node:util";
import type { HostPath } from "@codex/exec-server-protocol";
import { parentPath, pathBytes } from "@codex/exec-server-protocol";
import { systemError } from "../errors.js";

// /proc shows a process its own environment, memory and descriptors. Commands must not see those of this process
// (docs/security.md), so no file call returns them, under whatever name. Linux only; elsewhere there is no /proc.

/** The facts that are checked: files of /proc have size 0, deleted files no links. */
type Opened = Pick<Stats, "size" | "nlink" | "dev" | "ino" | "mode">;

/** @throws EACCES for an open file that another process of this user could not open under the same path */
export async function refuseOwnFile(fd: number, opened: Opened): Promise<void> {
  if (process.platform !== "linux") return;
  if (opened.nlink === 0 && (await isOwnDescriptor(fd, opened))) throw systemError("EACCES");
  if (opened.size > 0) return;
  const path = await readlink(`/proc/self/fd/${fd}`, "latin1").catch(() => "");
  const own = await findInOwnProcess(path);
  if (own === undefined) return;
  const isForAll = (opened.mode & READ_BY_OTHERS) !== 0;
  if (!isForAll || TRACER_FILES.has(own.at(-1)!) || isTracerDirectory(own)) throw systemError("EACCES");
}

/** @param blocks allocated blocks; 0 in /proc. @throws EACCES for directories of /proc that list what this process has open */
export async function refuseOwnDirectory(path: HostPath, { blocks }: Pick<Stats, "blocks">): Promise<void> {
  if (process.platform !== "linux" || blocks > 0) return;
  const real = await realpath(path, { encoding: "latin1" }).catch(() => "");
  const own = await findInOwnProcess(real);
  if (own !== undefined && isTracerDirectory(own)) throw systemError("EACCES");
}

/** @throws EACCES for a path that is a descriptor of this process */
export async function refuseOwnDescriptor(path: HostPath): Promise<void> {
  const text = pathBytes(path).toString("latin1");
  if (text !== "/") await refuseOwnDirectory(parentPath(path), { blocks: 0 });
}

const READ_BY_OTHERS = 0o004;

/** Anybody may open these, but their content is only for processes that may trace this one. */
const TRACER_FILES: ReadonlySet<string> = new Set(["maps", "numa_maps", "smaps", "smaps_rollup", "timers", "wchan"]);

/** Directories of a process, and of each of its threads, that only processes that may trace it can enter. */
const TRACER_DIRECTORIES: ReadonlySet<string> = new Set(["fd", "fdinfo", "map_files", "ns"]);

const isTracerDirectory = (own: readonly string[]): boolean =>
  TRACER_DIRECTORIES.has(own[0] === "task" ? (own[2] ?? "") : (own[0] ?? ""));

/**
 * The components below the /proc directory of this process, or of one of its threads; undefined for other paths.
 * /proc may be mounted anywhere, and more than once.
 */
async function findInOwnProcess(path: string): Promise<string[] | undefined> {
  const names = path.split("/");
  for (let at = 1; at < names.length; at += 1) {
    if (!/^\d+$/.test(names[at]!)) continue;
    const proc = Buffer.from(names.slice(0, at).join("/"), "latin1");
    const self = await readlink(Buffer.concat([proc, Buffer.from("/self")]), "latin1").catch(() => undefined);
    if (self === undefined) continue;
    const status = Buffer.concat([proc, Buffer.from(`/${names[at]}/status`)]);
    const leader = /^Tgid:\s*(\d+)$/m.exec(await readFile(status, "latin1").catch(() => ""))?.[1];
    return leader === self ? names.slice(at + 1) : undefined;
  }
  return undefined;
}

const fstatLater = promisify(fstat);

/** A deleted file can be reached only through a descriptor: whether this process has one. */
async function isOwnDescriptor(fd: number, { dev, ino }: Opened): Promise<boolean> {
  const numbers = (await readdir("/proc/self/fd")).map(Number).filter((other) => other !== fd);
  const files = await Promise.all(numbers.map((other) => fstatLater(other).catch(() => undefined)));
  return files.some((file) => file !== undefined && file.ino === ino && file.dev === dev);
}
