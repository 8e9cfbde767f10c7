import { bindLibc, hasFunction } from "../libc/bind.js";
import { type Library, loadKoffi } from "../libc/koffi.js";
import { type Abi, OPENAT2, PIDFD_GETFD, PIDFD_OPEN } from "./system-calls.js";

/** System calls of the gate's threads. Each returns a negative errno where it fails. */
export interface KernelCalls {
  setNoNewPrivileges(): number;
  seccomp(operation: number, flags: number, argument: Uint8Array): number;
  /** The argument is read and written. */
  ioctl(fd: number, request: number, argument: Uint8Array): number;
  /** Waits until one of the `struct pollfd` is ready, or for so many milliseconds. */
  poll(polled: Uint8Array, count: number, milliseconds: number): number;
  /** Both are arrays of `struct iovec`. Returns the bytes that were read. */
  readMemory(pid: number, into: BigUint64Array, from: BigUint64Array, count: number): number;
  /** @param path ends with NUL. @param how `struct open_how` */
  openBelow(directory: number, path: Uint8Array, how: Uint8Array): number;
  open(path: string, flags: number): number;
  close(fd: number): void;
  /** @param path "" for the descriptor itself. @param into `struct statx` */
  getStatus(fd: number, path: string, into: Uint8Array): number;
  /** Returns the bytes of the link. */
  readLink(path: string, into: Uint8Array): number;
  read(fd: number, into: Uint8Array): number;
  openProcess(pid: number): number;
  /** A soft and a hard limit. */
  getLimit(pid: number, resource: number, into: BigUint64Array): number;
  setLimit(pid: number, resource: number, to: BigUint64Array): number;
  wait(pid: number, status: Int32Array, options: number): number;
  /** @param address 0 by default */
  ptrace(request: number, pid: number, data: number | bigint, address?: number): number;
  kill(pid: number, signal: number): number;
  /** A copy of a descriptor of another process. */
  copyDescriptor(process: number, fd: number): number;
  /** The file with these bytes, which nobody can change. */
  createSealed(name: string, bytes: Uint8Array): number;
  createSocketPair(into: Int32Array): number;
  /** Gives the calling thread a directory and a umask of its own. */
  unshareDirectory(): number;
  changeDirectory(fd: number): number;
  setUmask(mask: number): void;
  write(fd: number, bytes: Uint8Array): number;
  addressOf(bytes: Uint8Array | BigUint64Array): bigint;
}

/** Functions of the C library; `syscall` under a name for each form of its arguments. */
interface Functions {
  prctl(option: number, value: number, unused3: number, unused4: number, unused5: number): number;
  seccomp(number: number, operation: number, flags: number, argument: Uint8Array): number;
  ioctl(fd: number, request: number, argument: Uint8Array): number;
  ppoll(polled: Uint8Array, count: number, timeout: BigInt64Array, mask: null): number;
  process_vm_readv(
    pid: number,
    into: BigUint64Array,
    intoCount: number,
    from: BigUint64Array,
    fromCount: number,
    flags: number,
  ): number;
  openat2(number: number, fd: number, path: Uint8Array, how: Uint8Array, bytes: number): number;
  open(path: string, flags: number): number;
  close(fd: number): number;
  statx(fd: number, path: string, flags: number, mask: number, into: Uint8Array): number;
  readlink(path: string, into: Uint8Array, bytes: number): number;
  read(fd: number, into: Uint8Array, bytes: number): number;
  pidfd_open(number: number, pid: number, flags: number): number;
  prlimit(pid: number, resource: number, set: BigUint64Array | null, before: BigUint64Array | null): number;
  wait4(pid: number, status: Int32Array, options: number, usage: null): number;
  ptrace(number: number, request: number, pid: number, address: number, data: number | bigint): number;
  kill(pid: number, signal: number): number;
  pidfd_getfd(number: number, process: number, fd: number, flags: number): number;
  memfd_create(name: string, flags: number): number;
  fcntl(fd: number, command: number, type: "int", value: number): number;
  socketpair(domain: number, type: number, protocol: number, into: Int32Array): number;
  unshare(flags: number): number;
  fchdir(fd: number): number;
  umask(mask: number): number;
  write(fd: number, bytes: Uint8Array, count: number): number;
}

const PROTOTYPES: Readonly<Record<keyof Functions, string>> = {
  prctl:
    "int prctl(int option, unsigned long value, unsigned long unused3, unsigned long unused4, unsigned long unused5)",
  seccomp: "long syscall(long number, unsigned int operation, unsigned int flags, void *argument)",
  ioctl: "int ioctl(int fd, unsigned long request, void *argument)",
  ppoll: "int ppoll(void *polled, unsigned long count, const void *timeout, const void *mask)",
  process_vm_readv:
    "long process_vm_readv(int pid, const void *into, unsigned long into_count, const void *from, unsigned long from_count, unsigned long flags)",
  openat2: "long syscall(long number, int fd, const void *path, void *how, unsigned long bytes)",
  open: "int open(const char *path, int flags)",
  close: "int close(int fd)",
  statx: "int statx(int fd, const char *path, int flags, unsigned int mask, void *into)",
  readlink: "long readlink(const char *path, void *into, unsigned long bytes)",
  read: "long read(int fd, void *into, unsigned long bytes)",
  pidfd_open: "long syscall(long number, int pid, unsigned int flags)",
  prlimit: "int prlimit(int pid, int resource, const void *set, void *before)",
  wait4: "int wait4(int pid, void *status, int options, void *usage)",
  ptrace: "long syscall(long number, long request, long pid, long address, long data)",
  kill: "int kill(int pid, int signal)",
  pidfd_getfd: "long syscall(long number, int process, int fd, unsigned int flags)",
  memfd_create: "int memfd_create(const char *name, unsigned int flags)",
  fcntl: "int fcntl(int fd, int command, ...)",
  socketpair: "int socketpair(int domain, int type, int protocol, void *into)",
  unshare: "int unshare(int flags)",
  fchdir: "int fchdir(int fd)",
  umask: "unsigned int umask(unsigned int mask)",
  write: "long write(int fd, const void *bytes, unsigned long count)",
};

/** prctl.h, fcntl.h and linux/stat.h of Linux. */
const PR_SET_NO_NEW_PRIVS = 38;
const AT_EMPTY_PATH = 0x1000;
const STATX_BASIC = 0x7ff;
const OPEN_HOW_BYTES = 24;
/** linux/memfd.h, fcntl.h, sys/socket.h and sched.h of Linux. */
const MFD_CLOEXEC = 1;
const MFD_ALLOW_SEALING = 2;
const F_ADD_SEALS = 1033;
const ALL_SEALS = 0xf;
const AF_UNIX = 1;
const SOCK_STREAM = 1;
const SOCK_CLOEXEC = 0o2000000;
const CLONE_FS = 0x200;

/** The function of the C library that is missing, as its name; undefined if none is. */
export function findMissingFunction(library?: Library): string | undefined {
  const functions = bindLibc<Functions>(PROTOTYPES, library);
  return (Object.keys(PROTOTYPES) as (keyof Functions)[]).find((name) => !hasFunction(functions, name));
}

export function bindKernelCalls(abi: Pick<Abi, "seccomp" | "ptrace">, library?: Library): KernelCalls {
  const koffi = loadKoffi();
  const libc = bindLibc<Functions>(PROTOTYPES, library);
  /** The number of a failure is that of the last call. */
  const toResult = (result: number) => (result < 0 ? -koffi.errno() : result);
  const timeout = new BigInt64Array(2);
  return {
    setNoNewPrivileges: () => toResult(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)),
    seccomp: (operation, flags, argument) => toResult(libc.seccomp(abi.seccomp, operation, flags, argument)),
    ioctl: (fd, request, argument) => toResult(libc.ioctl(fd, request, argument)),
    poll(polled, count, milliseconds) {
      timeout[0] = BigInt(Math.floor(milliseconds / 1_000));
      timeout[1] = BigInt(Math.floor((milliseconds % 1_000) * 1_000_000));
      return toResult(libc.ppoll(polled, count, timeout, null));
    },
    readMemory: (pid, into, from, count) => toResult(libc.process_vm_readv(pid, into, count, from, count, 0)),
    openBelow: (directory, path, how) => toResult(libc.openat2(OPENAT2, directory, path, how, OPEN_HOW_BYTES)),
    open: (path, flags) => toResult(libc.open(path, flags)),
    close: (fd) => void libc.close(fd),
    getStatus: (fd, path, into) => toResult(libc.statx(fd, path, path === "" ? AT_EMPTY_PATH : 0, STATX_BASIC, into)),
    readLink: (path, into) => toResult(libc.readlink(path, into, into.length)),
    read: (fd, into) => toResult(libc.read(fd, into, into.length)),
    openProcess: (pid) => toResult(libc.pidfd_open(PIDFD_OPEN, pid, 0)),
    getLimit: (pid, resource, into) => toResult(libc.prlimit(pid, resource, null, into)),
    setLimit: (pid, resource, to) => toResult(libc.prlimit(pid, resource, to, null)),
    wait: (pid, status, options) => toResult(libc.wait4(pid, status, options, null)),
    ptrace: (request, pid, data, address = 0) => toResult(libc.ptrace(abi.ptrace, request, pid, address, data)),
    kill: (pid, signal) => toResult(libc.kill(pid, signal)),
    copyDescriptor: (process, fd) => toResult(libc.pidfd_getfd(PIDFD_GETFD, process, fd, 0)),
    createSealed(name, bytes) {
      const fd = toResult(libc.memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
      if (fd < 0) return fd;
      const written = toResult(libc.write(fd, bytes, bytes.length));
      const sealed = toResult(libc.fcntl(fd, F_ADD_SEALS, "int", ALL_SEALS));
      if (written === bytes.length && sealed === 0) return fd;
      libc.close(fd);
      return Math.min(written, sealed, -ERRNO.EAGAIN);
    },
    createSocketPair: (into) => toResult(libc.socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, into)),
    unshareDirectory: () => toResult(libc.unshare(CLONE_FS)),
    changeDirectory: (fd) => toResult(libc.fchdir(fd)),
    setUmask: (mask) => void libc.umask(mask),
    write: (fd, bytes) => toResult(libc.write(fd, bytes, bytes.length)),
    addressOf: (bytes) => koffi.address(bytes as Uint8Array),
  };
}

/** errno.h of Linux, the same numbers on both architectures. */
export const ERRNO = {
  EPERM: 1,
  ENOENT: 2,
  ESRCH: 3,
  EINTR: 4,
  E2BIG: 7,
  EBADF: 9,
  EAGAIN: 11,
  EACCES: 13,
  EFAULT: 14,
  ENOTDIR: 20,
  ENAMETOOLONG: 36,
  ELOOP: 40,
} as const;
