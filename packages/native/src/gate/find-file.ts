import { readFileSync } from "node:fs";
import { ERRNO, type KernelCalls } from "./kernel-calls.js";
import type { Notification } from "./listener.js";

/** The file of a call. */
type FoundFile =
  /** The caller closes `fd`. */
  | ({ kind: "file"; fd: number; given: string | undefined } & FileFacts)
  /** The kernel would not find it either, and fails so. */
  | { kind: "missing"; errno: number }
  /** Only the kernel can tell, such as behind a link in `/proc`. */
  | { kind: "unknown"; given: string }
  /** The caller does not let it be looked up. */
  | { kind: "hidden" };

interface FileFacts {
  id: FileId;
  /** Absolute, its links resolved; undefined for a file without a name. */
  path: string | undefined;
}

/** Identifies a file as long as somebody has it open. */
export interface FileId {
  device: string;
  inode: bigint;
}

/** False where one of them is not known. */
export const isSameFile = (one: FileId | undefined, other: FileId | undefined): boolean =>
  one !== undefined && other !== undefined && one.inode === other.inode && one.device === other.device;

/** Finds what the kernel would start, in the root of the caller. */
export interface FileFinder {
  find(call: Pick<Notification, "tid" | "directory" | "flags">, path: Buffer): FoundFile;
  /** The program that a process runs. Undefined if it cannot be read. */
  readProgram(pid: number): FileFacts | undefined;
  readId(fd: number): FileId | undefined;
  /** Of a file of this process. */
  readIdOf(path: string): FileId | undefined;
  readDirectoryId(tid: number): FileId | undefined;
  /** The directory of a thread, if it is the same one by its path for this process. The caller closes `fd`. */
  openDirectoryOf(tid: number): { fd: number; id: FileId; path: string } | undefined;
  /** The first line of a script after its `#!`: an interpreter, and an argument for it. Undefined for other files. */
  readInterpreter(fd: number): string[] | undefined;
}

/** fcntl.h and linux/openat2.h of Linux. */
const O_CLOEXEC = 0o2000000;
const O_PATH = 0o10000000;
const O_DIRECTORY = 0o200000;
const AT_FDCWD = -100;
const AT_EMPTY_PATH = 0x1000;
const RESOLVE_NO_MAGICLINKS = 0x02n;
const RESOLVE_NO_SYMLINKS = 0x04n;
const RESOLVE_IN_ROOT = 0x10n;

/** sys/stat.h of Linux. */
const S_IFMT = 0o170000;
const S_IFREG = 0o100000;

/** Bytes of a script that name its interpreter; the figure is Linux's. */
const SHEBANG_BYTES = 256;
const LINK_BYTES = 8192;
const STATX_BYTES = 256;

export function createFileFinder(calls: KernelCalls): FileFinder {
  const inRoot = createHow(RESOLVE_IN_ROOT);
  const withoutLinks = createHow(RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS);
  const withoutProcLinks = createHow(RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);
  const link = Buffer.alloc(LINK_BYTES);
  const status = Buffer.alloc(STATX_BYTES);

  /** As latin1, so that each byte is kept; or an errno. */
  const readLink = (path: string): string | number => {
    const bytes = calls.readLink(path, link);
    return bytes < 0 ? -bytes : link.toString("latin1", 0, bytes);
  };
  const readFacts = (fd: number, place = ""): FileFacts | undefined => {
    const path = readLink(place === "" ? `/proc/self/fd/${fd}` : place);
    if (typeof path === "number" || calls.getStatus(fd, place, status) !== 0) return undefined;
    const device = `${status.readUInt32LE(136)}:${status.readUInt32LE(140)}`;
    return { path: nameOf(path), id: { device, inode: status.readBigUInt64LE(32) } };
  };
  const describe = (fd: number, given: string | undefined): FoundFile => {
    const facts = readFacts(fd);
    if (facts !== undefined) return { kind: "file", fd, given: given && toUtf8(given), ...facts };
    calls.close(fd);
    return HIDDEN;
  };
  /** A link of `/proc` that leads to a file itself, not by a path. */
  const findLinked = (place: string, missing: number): FoundFile => {
    const fd = calls.open(place, O_PATH | O_CLOEXEC);
    if (fd >= 0) return describe(fd, undefined);
    return fd === -ERRNO.ENOENT ? { kind: "missing", errno: missing } : HIDDEN;
  };
  /** Whether the kernel fails the caller as it has failed the gate: in most cases a search through PATH. */
  const isFailure = (tid: number, root: number, given: string, errno: number): boolean => {
    if (errno !== ERRNO.ENOENT && errno !== ERRNO.ENOTDIR && (errno !== ERRNO.EACCES || hasCapabilities(tid)))
      return false;
    if (calls.openBelow(root, toName(given), withoutLinks) === -errno) return true;
    // Links of `/proc` mean something else for the caller: there is none on the way to a directory that is found without, and what is
    // missing in it is not a link.
    const last = given.lastIndexOf("/") + 1;
    const directory = calls.openBelow(root, toName(given.slice(0, last)), withoutProcLinks);
    if (directory < 0) return false;
    const path = readLink(`/proc/self/fd/${directory}`);
    const found = calls.openBelow(directory, toName(given.slice(last)), withoutLinks);
    calls.close(directory);
    if (found >= 0) calls.close(found);
    return found === -errno && typeof path === "string" && !/^\/proc(?:\/|$)/.test(path);
  };
  const findBelowRoot = (tid: number, given: string): FoundFile => {
    const root = calls.open(`/proc/${tid}/root`, O_PATH | O_CLOEXEC);
    if (root < 0) return HIDDEN;
    try {
      const fd = calls.openBelow(root, toName(given), inRoot);
      if (fd >= 0) return describe(fd, given);
      return isFailure(tid, root, given, -fd)
        ? { kind: "missing", errno: -fd }
        : { kind: "unknown", given: toUtf8(given) };
    } finally {
      calls.close(root);
    }
  };
  /** The path of a directory in the root of the caller, or an errno. */
  const readDirectory = (tid: number, directory: number): string | number => {
    const path = readLink(directory === AT_FDCWD ? `/proc/${tid}/cwd` : `/proc/${tid}/fd/${directory}`);
    const root = readLink(`/proc/${tid}/root`);
    if (typeof path === "number") return path;
    if (typeof root === "number") return root;
    return root !== "/" && `${path}/`.startsWith(`${root}/`) ? `${path.slice(root.length)}/` : path;
  };
  /** A path below a directory. */
  const findBelow = (tid: number, directory: number, path: string): FoundFile => {
    const base = readDirectory(tid, directory);
    if (typeof base === "string" && base.startsWith("/")) return findBelowRoot(tid, `${base}/${path}`);
    if (base === ERRNO.ENOENT && directory !== AT_FDCWD) return { kind: "missing", errno: ERRNO.EBADF };
    return typeof base === "number" ? HIDDEN : { kind: "unknown", given: toUtf8(path) };
  };
  return {
    find({ tid, directory, flags }, bytes) {
      const path = bytes.toString("latin1");
      if (path === "") {
        if ((flags & AT_EMPTY_PATH) === 0) return { kind: "missing", errno: ERRNO.ENOENT };
        return findLinked(`/proc/${tid}/fd/${directory}`, ERRNO.EBADF);
      }
      if (!path.startsWith("/")) return findBelow(tid, directory, path);
      const own = OWN_LINK.exec(path)?.groups;
      if (own === undefined) return findBelowRoot(tid, path);
      const { file, root, directory: below } = own;
      if (file !== undefined) return findLinked(`/proc/${tid}/${file}`, ERRNO.ENOENT);
      return root === undefined ? findBelow(tid, AT_FDCWD, below!) : findBelowRoot(tid, `/${root}`);
    },
    readId: (fd) => readFacts(fd)?.id,
    readIdOf(path) {
      const fd = calls.open(path, O_PATH | O_CLOEXEC);
      const facts = fd < 0 ? undefined : readFacts(fd);
      if (fd >= 0) calls.close(fd);
      return facts?.id;
    },
    readDirectoryId: (tid) => readFacts(AT_FDCWD, `/proc/${tid}/cwd`)?.id,
    openDirectoryOf(tid) {
      const own = readFacts(AT_FDCWD, `/proc/${tid}/cwd`);
      if (own?.path === undefined) return undefined;
      const fd = calls.open(own.path, O_PATH | O_DIRECTORY | O_CLOEXEC);
      const found = fd < 0 ? undefined : readFacts(fd);
      if (found !== undefined && isSameFile(found.id, own.id)) return { fd, id: own.id, path: own.path };
      if (fd >= 0) calls.close(fd);
      return undefined;
    },
    readProgram: (pid) => readFacts(AT_FDCWD, `/proc/${pid}/exe`),
    readInterpreter(fd) {
      if (calls.getStatus(fd, "", status) !== 0 || (status.readUInt16LE(28) & S_IFMT) !== S_IFREG) return undefined;
      const readable = calls.open(`/proc/self/fd/${fd}`, O_CLOEXEC);
      if (readable < 0) return undefined;
      const bytes = calls.read(readable, link.subarray(0, SHEBANG_BYTES));
      calls.close(readable);
      const line = bytes > 0 ? link.toString("latin1", 0, bytes).split("\n", 1)[0]! : "";
      const found = /^#![ \t]*([^ \t\0]+)(?:[ \t]+([^\0]*))?/.exec(line);
      if (found === null) return undefined;
      const argument = found[2]?.replace(/(?<![ \t])[ \t]+$/, "");
      return [found[1]!, ...(argument ? [argument] : [])].map(toUtf8);
    },
  };
}

/** Links of `/proc` that mean the caller, and would mean the gate here. */
const OWN_LINK =
  /^(?:\/proc\/(?:self|thread-self)|\/dev(?=\/fd))\/(?:(?<file>fd\/\d+|exe)|root\/(?<root>.*)|cwd\/(?<directory>.*))$/s;

const HIDDEN = { kind: "hidden" } as const;

/** Undefined for a file without a name, for which the kernel shows one that nobody can open. */
function nameOf(path: string): string | undefined {
  if (!path.startsWith("/") || path.startsWith("/memfd:")) return undefined;
  return toUtf8(path.replace(/ \(deleted\)$/, ""));
}

const toName = (latin1: string): Buffer => Buffer.from(`${latin1}\0`, "latin1");

/** Whether a thread may do more than others of its user, as in a user namespace of its own. */
function hasCapabilities(tid: number): boolean {
  try {
    return !/^CapEff:\t0+$/m.test(readFileSync(`/proc/${tid}/status`, "latin1"));
  } catch {
    return true;
  }
}

const toUtf8 = (latin1: string): string => Buffer.from(latin1, "latin1").toString();

function createHow(resolve: bigint): Buffer {
  const how = Buffer.alloc(24);
  how.writeBigUInt64LE(BigInt(O_PATH | O_CLOEXEC), 0);
  how.writeBigUInt64LE(resolve, 16);
  return how;
}
