import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

/** The functions of the C library that Node does not offer, called through koffi. Those that start children: Linux. */
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
  /** Returns an errno, as all that follow do. */
  posix_spawn(
    pid: Int32Array,
    path: string,
    actions: Buffer,
    attributes: Buffer,
    argv: readonly (string | null)[],
    env: readonly (string | null)[],
  ): number;
  posix_spawn_file_actions_init(actions: Buffer): number;
  posix_spawn_file_actions_destroy(actions: Buffer): number;
  posix_spawn_file_actions_adddup2(actions: Buffer, from: number, to: number): number;
  posix_spawn_file_actions_addopen(actions: Buffer, fd: number, path: string, flags: number, mode: number): number;
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
  posix_spawn_file_actions_addchdir_np: "int posix_spawn_file_actions_addchdir_np(void *actions, const char *path)",
  posix_spawnattr_init: "int posix_spawnattr_init(void *attributes)",
  posix_spawnattr_setflags: "int posix_spawnattr_setflags(void *attributes, short flags)",
  posix_spawnattr_setsigdefault: "int posix_spawnattr_setsigdefault(void *attributes, const void *signals)",
  posix_spawnattr_setsigmask: "int posix_spawnattr_setsigmask(void *attributes, const void *signals)",
};

interface Koffi {
  load(path: null): Library;
  /** Of the last call. */
  errno(): number;
  address(buffer: Uint8Array): bigint;
}

/** Where functions are found by their prototypes. */
export interface Library {
  /** @throws where there is no such function */
  func(prototype: string): (...args: unknown[]) => number;
}

/** Outside Linux only `fcntl` and `read` are there. Older libraries lack some: see `hasFunction`. */
export function loadLibc(library?: Library): Libc {
  const { fcntl, read } = PROTOTYPES;
  const libc = bindLibc<Libc>(process.platform === "linux" ? PROTOTYPES : { fcntl, read }, library);
  keepDescriptors(libc);
  return libc;
}

/** Functions of the C library by their prototypes, each bound when it is first asked for. @throws then, where it lacks that one */
export function bindLibc<Functions>(
  prototypes: Readonly<Partial<Record<keyof Functions, string>>>,
  library: Library = loadKoffi().load(null),
): Functions {
  const bound = {};
  for (const [name, prototype] of Object.entries<string>(prototypes as Record<string, string>)) {
    Object.defineProperty(bound, name, {
      configurable: true,
      get() {
        const value = library.func(prototype);
        Object.defineProperty(bound, name, { value });
        return value;
      },
    });
  }
  return bound as Functions; // of the members that the prototypes name
}

/** Whether the C library has it. */
export function hasFunction<Functions>(functions: Functions, name: keyof Functions): boolean {
  try {
    return functions[name] !== undefined;
  } catch {
    return false;
  }
}

/** Why the last call failed, as in errno.h. */
export const lastErrno = (): number => loadKoffi().errno();

/** Where in memory a buffer lies, which it does until it is garbage. */
export const addressOf = (buffer: Uint8Array): bigint => loadKoffi().address(buffer);

const loadKoffi = (): Koffi => requireNative("koffi", requireKoffi) as Koffi;

/**
 * The native code of koffi, which is all that is used of it: what Node does to find koffi, and koffi's own JavaScript, take as long
 * again. Where it is not of that version in the package beside koffi's, koffi finds its code itself.
 */
export function requireKoffi(require: NodeJS.Require): unknown {
  const found = (require.resolve.paths("koffi") ?? []).map((path) => join(path, "koffi")).find(existsSync);
  try {
    if (found !== undefined) {
      const directory = realpathSync(found);
      const { version } = JSON.parse(readFileSync(join(directory, "package.json"), "utf8")) as { version: string };
      const native = require(join(directory, "..", KOFFI_NATIVE)) as { version: string };
      if (native.version === version) return native;
    }
  } catch {
    // Built from its sources, for one.
  }
  return require("koffi");
}

/** As koffi 3 names it. */
const KOFFI_NATIVE = `@koromix/koffi-${process.platform}-${process.arch}`;

/** A module with native code. */
export function requireNative(name: string, load = (require: NodeJS.Require) => require(name) as unknown): unknown {
  // Node follows no link on the way to a module when the last status it asked for was that of a pipe or a socket.
  statSync("/");
  try {
    return load(createRequire(import.meta.url));
  } catch (cause) {
    const [reason] = (cause instanceof Error ? cause.message : String(cause)).split("\n");
    const advice = "it has to be installed; a bundle has to be an ES module with it beside";
    throw new Error(`the native code of \`${name}\` cannot be loaded (${reason}); ${advice}`, { cause });
  }
}

/** For a call that failed so: with the bound, which is that of this process or, rarely, of the host. */
export function tooManyFiles(libc: Partial<Pick<Libc, "prlimit">>): Error {
  const limits = new BigUint64Array(2);
  const isKnown = libc.prlimit?.(0, RLIMIT_NOFILE, null, limits) === 0;
  const bound = isKnown ? `; this process may have ${limits[0]} (\`ulimit -n\`)` : "";
  return Object.assign(new Error(`too many open files${bound}`), { code: "EMFILE" });
}

/** sys/resource.h of Linux, but for MIPS and SPARC. */
const RLIMIT_NOFILE = 7;

/** fcntl.h; the last of Linux. */
const F_SETFD = 2;
const FD_CLOEXEC = 1;
const F_DUPFD_CLOEXEC = 1030;

/** Another descriptor for the same, `least` or higher, that no child gets; -1 when there are too many. Linux. */
export const duplicate = ({ fcntl }: Pick<Libc, "fcntl">, fd: number, least = 0): number =>
  fcntl(fd, F_DUPFD_CLOEXEC, "int", least);

/** No child started from now on gets the descriptor. */
export const closeOnExec = ({ fcntl }: Libc, fd: number): unknown => fcntl(fd, F_SETFD, "int", FD_CLOEXEC);

/** Descriptors that this process inherited are its own business: no child gets more than its stdin, stdout and stderr. */
function keepDescriptors(libc: Libc): void {
  if (process.platform !== "linux") return; // macOS starts children with all others closed
  for (const name of readdirSync("/proc/self/fd")) {
    const fd = Number(name);
    if (fd > 2) closeOnExec(libc, fd);
  }
}
