import { bindLibc } from "./bind.js";
import type { Library } from "./koffi.js";

/** Functions of the C library that Node does not offer, called through koffi. Those that start children are Linux-only. */
export interface Libc {
  /** Variadic: each further argument is preceded by its C type. */
  fcntl(fd: number, command: number, type: "int", value: number): number;
  /** -1 where it fails. */
  read(fd: number, into: Uint8Array, bytes: number): number;
  pipe2(fds: Int32Array, flags: number): number;
  /** -1 where it fails. glibc has it since 2.27. */
  memfd_create(name: string, flags: number): number;
  flock(fd: number, operation: number): number;
  waitpid(pid: number, status: Int32Array, options: number): number;
  getpgid(pid: number): number;
  /** -1 where they fail. */
  chdir(path: string): number;
  fchdir(fd: number): number;
  /** A soft and a hard limit each. */
  prlimit(pid: number, resource: number, set: BigUint64Array | null, before: BigUint64Array): number;
  prctl(option: number, value: number, unused3: number, unused4: number, unused5: number): number;
  /** Returns an errno, as do all members below. */
  posix_spawn(
    pid: Int32Array,
    path: string,
    actions: Buffer,
    attributes: Buffer,
    argv: readonly (string | null)[] | BigUint64Array,
    env: readonly (string | null)[],
  ): number;
  posix_spawn_file_actions_init(actions: Buffer): number;
  posix_spawn_file_actions_destroy(actions: Buffer): number;
  posix_spawn_file_actions_adddup2(actions: Buffer, from: number, to: number): number;
  posix_spawn_file_actions_addopen(actions: Buffer, fd: number, path: string, flags: number, mode: number): number;
  posix_spawn_file_actions_addclose(actions: Buffer, fd: number): number;
  /** glibc has it since 2.34; musl does not. */
  posix_spawn_file_actions_addclosefrom_np(actions: Buffer, from: number): number;
  /** glibc has it since 2.29, musl since 1.1.24. */
  posix_spawn_file_actions_addchdir_np(actions: Buffer, path: string): number;
  posix_spawnattr_init(attributes: Buffer): number;
  posix_spawnattr_setflags(attributes: Buffer, flags: number): number;
  posix_spawnattr_setsigdefault(attributes: Buffer, signals: Buffer): number;
  posix_spawnattr_setsigmask(attributes: Buffer, signals: Buffer): number;
}

export const PROTOTYPES: Readonly<Record<keyof Libc, string>> = {
  fcntl: "int fcntl(int fd, int command, ...)",
  read: "long read(int fd, _Out_ void *into, unsigned long bytes)",
  pipe2: "int pipe2(_Out_ void *fds, int flags)",
  memfd_create: "int memfd_create(const char *name, unsigned int flags)",
  flock: "int flock(int fd, int operation)",
  waitpid: "int waitpid(int pid, _Out_ void *status, int options)",
  getpgid: "int getpgid(int pid)",
  chdir: "int chdir(const char *path)",
  fchdir: "int fchdir(int fd)",
  prlimit: "int prlimit(int pid, int resource, const void *set, _Out_ void *before)",
  prctl:
    "int prctl(int option, unsigned long value, unsigned long unused3, unsigned long unused4, unsigned long unused5)",
  posix_spawn:
    "int posix_spawn(_Out_ void *pid, const char *path, const void *actions, const void *attributes, const char **argv, const char **env)",
  posix_spawn_file_actions_init: "int posix_spawn_file_actions_init(void *actions)",
  posix_spawn_file_actions_destroy: "int posix_spawn_file_actions_destroy(void *actions)",
  posix_spawn_file_actions_adddup2: "int posix_spawn_file_actions_adddup2(void *actions, int from, int to)",
  posix_spawn_file_actions_addopen:
    "int posix_spawn_file_actions_addopen(void *actions, int fd, const char *path, int flags, unsigned int mode)",
  posix_spawn_file_actions_addclose: "int posix_spawn_file_actions_addclose(void *actions, int fd)",
  posix_spawn_file_actions_addclosefrom_np: "int posix_spawn_file_actions_addclosefrom_np(void *actions, int from)",
  posix_spawn_file_actions_addchdir_np: "int posix_spawn_file_actions_addchdir_np(void *actions, const char *path)",
  posix_spawnattr_init: "int posix_spawnattr_init(void *attributes)",
  posix_spawnattr_setflags: "int posix_spawnattr_setflags(void *attributes, short flags)",
  posix_spawnattr_setsigdefault: "int posix_spawnattr_setsigdefault(void *attributes, const void *signals)",
  posix_spawnattr_setsigmask: "int posix_spawnattr_setsigmask(void *attributes, const void *signals)",
};

/** Binds functions on first access. Outside Linux only `fcntl` and `read` exist; older libraries lack some: see `hasFunction`. */
export function loadLibc(library?: Library): Libc {
  const { fcntl, read } = PROTOTYPES;
  return bindLibc<Libc>(process.platform === "linux" ? PROTOTYPES : { fcntl, read }, library);
}
