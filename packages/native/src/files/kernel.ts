import { endianness } from "node:os";
import { bindLibc } from "../libc/bind.js";
import type { Library } from "../libc/koffi.js";
import { addressOf } from "../libc/koffi.js";
import { MAX_CACHED_READ_BYTES } from "../limits.js";
import { parseStatus, STATX_BYTES, type Status } from "./status.js";

/** A path of the host; a buffer where it is not valid UTF-8. */
type RawPath = string | Buffer;

/** System calls of Linux that use only what is in memory, and fail otherwise. The caller closes descriptors. Nothing throws. */
export interface Kernel {
  /**
   * A descriptor that refers to a file without opening it (`O_PATH`). Undefined when the path is not completely in the kernel's
   * cache, and for every error.
   */
  find(path: RawPath, way: PathResolution): number | undefined;
  /** Opens a found file for reading. For regular files only: opening others may block, or have side effects. */
  open(found: number): number | undefined;
  /** Id of the mount of a descriptor, as in `/proc/self/mountinfo`, without accessing the file system. */
  getMount(fd: number): number | undefined;
  /** Whether mounts have changed since the last call for this open `/proc/self/mountinfo`. */
  haveMountsChanged(mountInfo: number): boolean;
  /** The status, if the file system has it in memory. */
  getStatus(fd: number): Status | undefined;
  /**
   * The content of a file of this size, at most MAX_CACHED_READ_BYTES. Undefined when its size differs, or when it is not
   * completely in the page cache. `isInMemory` is for file systems that always are, which need not support the check.
   */
  readAll(fd: number, size: number, isInMemory: boolean): Buffer | undefined;
  close(fd: number): void;
}

interface PathResolution {
  /** Whether a symbolic link at the end of the path is followed; if not, the link itself is found. */
  followsLast: boolean;
  /** Whether the path must not leave the mount of the root. */
  staysOnRoot: boolean;
}

/** Undefined before Linux 5.12 and on other systems, and where a container's filter refuses the calls. */
export function createKernel(library?: Library): Kernel | undefined {
  if (process.platform !== "linux" || endianness() !== "LE") return undefined;
  try {
    const kernel = bindKernel(library);
    const root = kernel.find("/", { followsLast: true, staysOnRoot: true });
    if (root === undefined) return undefined;
    kernel.close(root);
    return kernel;
  } catch {
    return undefined; // the C library lacks a function
  }
}

interface Functions {
  syscall(number: number, directory: number, path: string | Buffer, how: BigUint64Array, howBytes: number): number;
  openat(directory: number, path: string, flags: number): number;
  statx(fd: number, path: string, flags: number, mask: number, into: Uint32Array): number;
  pread(fd: number, into: Buffer, bytes: number, offset: number): number;
  preadv2(fd: number, vectors: BigUint64Array, count: number, offset: number, flags: number): number;
  poll(fds: Int32Array, count: number, timeoutMs: number): number;
  close(fd: number): number;
}

const PROTOTYPES: Readonly<Record<keyof Functions, string>> = {
  syscall: "long syscall(long number, long directory, const char *path, const void *how, long how_bytes)",
  openat: "int openat(int directory, const char *path, int flags)",
  statx: "int statx(int fd, const char *path, int flags, unsigned int mask, _Out_ void *into)",
  pread: "long pread(int fd, _Out_ void *into, unsigned long bytes, long offset)",
  preadv2: "long preadv2(int fd, const void *vectors, int count, long offset, int flags)",
  poll: "int poll(_Inout_ void *fds, unsigned long count, int timeout)",
  close: "int close(int fd)",
};

/** The C library has no function for openat2; its number is the same on every architecture. */
const OPENAT2 = 437;

/** linux/openat2.h, fcntl.h, linux/stat.h, linux/fs.h and poll.h, for x86-64 and arm64. */
const RESOLVE_NO_XDEV = 0x01;
const RESOLVE_NO_MAGICLINKS = 0x02;
const RESOLVE_CACHED = 0x20;
const AT_FDCWD = -100;
const AT_EMPTY_PATH = 0x1000;
const AT_STATX_DONT_SYNC = 0x4000;
const O_NOCTTY = 0o400;
const O_NONBLOCK = 0o4000;
const O_CLOEXEC = 0o2000000;
const O_PATH = 0o10000000;
const O_NOFOLLOW = process.arch === "arm64" ? 0o100000 : 0o400000;
const STATX_ALL = 0xfff;
const RWF_NOWAIT = 8;
const POLLPRI = 2;

/** Bytes of `/proc/self/fdinfo` that are read; the mount is in its first lines. */
const FD_INFO_BYTES = 256;
const MOUNT_ID = "mnt_id:\t";

function bindKernel(library: Library | undefined): Kernel {
  const functions = bindLibc<Functions>(PROTOTYPES, library);
  const { syscall, openat, poll, statx, close } = functions;
  const follow = createHows(O_PATH | O_CLOEXEC);
  const stay = createHows(O_PATH | O_CLOEXEC | O_NOFOLLOW);
  const polled = new Int32Array(2);
  const status = new Uint32Array(STATX_BYTES / Uint32Array.BYTES_PER_ELEMENT);
  return {
    find(path, { followsLast, staysOnRoot }) {
      const hows = followsLast ? follow : stay;
      const how = staysOnRoot ? hows.onRoot : hows.anywhere;
      return opened(syscall(OPENAT2, AT_FDCWD, terminate(path), how, how.byteLength));
    },
    open: (found) => opened(openat(AT_FDCWD, `/proc/self/fd/${found}`, O_NONBLOCK | O_NOCTTY | O_CLOEXEC)),
    getMount: bindGetMount(functions),
    haveMountsChanged: (mountInfo) => {
      polled[0] = mountInfo;
      polled[1] = POLLPRI;
      return poll(polled, 1, 0) !== 0;
    },
    getStatus: (fd) =>
      statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_ALL, status) === 0 ? parseStatus(status) : undefined,
    readAll: bindReadAll(functions),
    close: (fd) => void close(fd),
  };
}

/** Without magic links, which are those of /proc to the open files of a process. */
const RESOLVE = RESOLVE_CACHED | RESOLVE_NO_MAGICLINKS;

/** `struct open_how`: flags, mode and how the path is resolved. */
const createHows = (flags: number) => ({
  anywhere: BigUint64Array.of(BigInt(flags), 0n, BigInt(RESOLVE)),
  onRoot: BigUint64Array.of(BigInt(flags), 0n, BigInt(RESOLVE | RESOLVE_NO_XDEV)),
});

function bindGetMount({ openat, pread, close }: Functions): Kernel["getMount"] {
  const info = Buffer.alloc(FD_INFO_BYTES);
  return (fd) => {
    const file = openat(AT_FDCWD, `/proc/self/fdinfo/${fd}`, O_CLOEXEC);
    if (file < 0) return undefined;
    const bytes = pread(file, info, info.length, 0);
    close(file);
    const at = info.indexOf(MOUNT_ID) + MOUNT_ID.length;
    return at < MOUNT_ID.length || at >= bytes ? undefined : parseDigits(info, at);
  };
}

/** Ends at a line feed. */
function parseDigits(text: Uint8Array, from: number): number {
  let value = 0;
  for (let at = from; text[at]! >= 0x30 && text[at]! <= 0x39; at += 1) value = value * 10 + text[at]! - 0x30;
  return value;
}

/** One buffer for all reads; the content is copied out immediately. */
function bindReadAll({ preadv2 }: Functions): Kernel["readAll"] {
  const buffer = Buffer.allocUnsafeSlow(MAX_CACHED_READ_BYTES + 1);
  const vector = new BigUint64Array([addressOf(buffer), BigInt(buffer.length)]);
  return (fd, size, isInMemory) => {
    // Reads one byte more than the size, to detect growth in the meantime.
    const bytes = preadv2(fd, vector, 1, 0, isInMemory ? 0 : RWF_NOWAIT);
    return bytes === size ? Buffer.from(buffer.subarray(0, size)) : undefined;
  };
}

const opened = (fd: number): number | undefined => (fd < 0 ? undefined : fd);

const terminate = (path: RawPath): string | Buffer =>
  typeof path === "string" ? path : Buffer.concat([path, Buffer.of(0)]);
