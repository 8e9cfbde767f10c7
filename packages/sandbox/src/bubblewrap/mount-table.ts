import { readFileSync } from "node:fs";
import { isWithin } from "@codex/permissions";
import type { ProfileEntry, RestrictedFiles } from "../profile/profile.js";
import { isEmptyDirectory, isFresh, isMounted } from "./render-arguments.js";

/** One line of `/proc/PID/mountinfo`: the file system, the directory of it, and where that is mounted. */
export interface Mount {
  /** Number of the file system, `major:minor`. */
  device: string;
  /** Directory of the file system that is mounted. */
  root: string;
  path: string;
  type: string;
}

/** Mounts of a process; the last one on a path is the visible one. Undefined when the process is gone. */
export function readMounts(pid: number | "self"): Mount[] | undefined {
  try {
    return readFileSync(`/proc/${pid}/mountinfo`, "utf8").split("\n").filter(Boolean).map(parseMount);
  } catch {
    return undefined;
  }
}

function parseMount(line: string): Mount {
  const [, , device = "", root = "", path = ""] = line.split(" ").map(decodeOctal);
  return { device, root, path, type: line.split(" - ")[1]?.split(" ")[0] ?? "" };
}

const decodeOctal = (text: string): string =>
  text.replace(/\\([0-7]{3})/g, (_match, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));

/** Whether every entry has a mount, correct or not, and so has the file `own`. */
export function hasAllMounts({ entries }: RestrictedFiles, mounts: readonly Mount[], own?: string): boolean {
  const paths = new Set(mounts.map(({ path }) => path));
  if (own !== undefined && !paths.has(own)) return false;
  return entries.filter((entry) => isMounted(entry, entries) && !entry.mirrored).every(({ path }) => paths.has(path));
}

/**
 * The first mount of a sandbox that neither an entry nor the host accounts for; undefined when there is none.
 * @param own path of a file that the sandbox has instead of the host's
 */
export function findOddMount(
  { entries }: RestrictedFiles,
  host: readonly Mount[],
  mounts: readonly Mount[],
  own?: string,
): string | undefined {
  const byPath = new Map(
    entries.filter((entry) => isMounted(entry, entries)).map((entry) => [entry.path, entry] as const),
  );
  const seen = new Map(mounts.map((mount) => [mount.path, mount]));
  const odd = [...byPath.values()].find((entry) => !isExpected(entry, seen.get(entry.path), host));
  if (odd !== undefined) return odd.path;
  const isOwn = ({ path, type }: Mount) => path === "/" || isFresh(path) || (path === own && type === "tmpfs");
  return mounts.find((mount) => !isOwn(mount) && !byPath.has(mount.path) && !host.some((one) => isSame(one, mount)))
    ?.path;
}

const isSame = (one: Mount, other: Mount): boolean =>
  one.device === other.device && one.root === other.root && one.path === other.path;

function isExpected(entry: ProfileEntry, mount: Mount | undefined, host: readonly Mount[]): boolean {
  if (mount === undefined) return entry.mirrored === true;
  if (entry.access === "deny") return entry.kind === "file" ? mount.root.endsWith("/null") : mount.type === "tmpfs";
  if (isEmptyDirectory(entry)) return mount.type === "tmpfs";
  return isSame(locate(entry.path, host), mount);
}

/** The mount that binding a path without symbolic links would show. */
function locate(path: string, host: readonly Mount[]): Mount {
  const around = host.reduce((best, mount) =>
    isWithin(path, mount.path) && (mount.path.length >= best.path.length || !isWithin(path, best.path)) ? mount : best,
  );
  const below = around.path === "/" ? path : path.slice(around.path.length);
  return { ...around, path, root: below === "" ? around.root : `${around.root === "/" ? "" : around.root}${below}` };
}
