import { constants } from "node:fs";

/** The status of a file from stat(2). */
export interface Status {
  kind: "file" | "directory" | "symlink" | "other";
  /** `st_mode`. */
  mode: number;
  /** Bytes. */
  size: number;
  /** Milliseconds since 1970, rounded down. */
  modifiedAtMs: number;
  /** In the same unit; undefined where the file system does not have it in memory. */
  createdAtMs: number | undefined;
}

/** `struct statx` of linux/stat.h. */
export const STATX_BYTES = 256;

/** Offsets of the used members, in units of 32 bits. */
const MASK = 0;
const MODE = 7;
const SIZE = 10;
const CREATED = 20;
const MODIFIED = 28;

/** Mask bits for everything except the time of creation, and for that time. */
const STATX_BASIC_STATS = 0x7ff;
const STATX_BTIME = 0x800;

/** Undefined when a required field is missing or unusual. */
export function parseStatus(statx: Uint32Array): Status | undefined {
  const modifiedAtMs = parseTime(statx, MODIFIED);
  const mask = statx[MASK]!;
  if ((mask & STATX_BASIC_STATS) !== STATX_BASIC_STATS || modifiedAtMs === undefined) return undefined;
  const mode = statx[MODE]! & 0xffff;
  return {
    kind: kindOf(mode),
    mode,
    size: getLong(statx, SIZE),
    modifiedAtMs,
    createdAtMs: (mask & STATX_BTIME) === 0 ? undefined : parseTime(statx, CREATED),
  };
}

/** Undefined for times before 1970 and after 2106, which file systems and Node interpret differently. */
function parseTime(statx: Uint32Array, at: number): number | undefined {
  const seconds = getLong(statx, at);
  if (seconds > 0xffffffff) return undefined;
  const nanoseconds = statx[at + 2]!;
  return seconds * 1000 + Math.floor(nanoseconds / 1e6);
}

const getLong = (words: Uint32Array, at: number): number => words[at]! + words[at + 1]! * 2 ** 32;

/** The kind of a file by its `st_mode`. */
export function kindOf(mode: number): Status["kind"] {
  switch (mode & constants.S_IFMT) {
    case constants.S_IFREG:
      return "file";
    case constants.S_IFDIR:
      return "directory";
    case constants.S_IFLNK:
      return "symlink";
    default:
      return "other";
  }
}
