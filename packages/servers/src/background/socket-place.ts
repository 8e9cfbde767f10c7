import { lstatSync, mkdirSync, type Stats } from "node:fs";
import { tmpdir } from "node:os";
import { isAbsolute, join } from "node:path";
import { BackgroundError } from "./errors.js";
import { MAX_SOCKET_PATH_BYTES } from "./limits.js";

/** The files of one background server. */
export interface SocketPlace {
  /** The unix socket. */
  readonly path: string;
  /** The lock file that is held while the server is started. */
  readonly lock: string;
  /** The log file of the server. */
  readonly log: string;
}

/** The environment variables and user that determine the directory of the sockets. */
export interface PlaceOptions {
  env?: Readonly<Record<string, string | undefined>>;
  /** User id of this process. */
  uid?: number;
}

/**
 * The files of the server called `name`, in a directory of mode 700: below `$XDG_RUNTIME_DIR`, else below the directory for
 * temporary files. Creates the directory.
 * @throws BackgroundError `unsafe_directory`, `path_too_long`
 */
export function openSocketPlace(name: string, options: PlaceOptions = {}): SocketPlace {
  const { env = process.env, uid = process.getuid?.() ?? 0 } = options;
  const directory = ensurePrivate(getDirectory(env, uid), uid);
  const path = join(directory, `${name}.sock`);
  const bytes = Buffer.byteLength(path);
  if (bytes > MAX_SOCKET_PATH_BYTES) {
    const most = `that of a unix socket has at most ${MAX_SOCKET_PATH_BYTES}`;
    throw new BackgroundError(
      "path_too_long",
      `${path} has ${bytes} bytes, and ${most}: set a shorter XDG_RUNTIME_DIR`,
    );
  }
  return { path, lock: join(directory, `${name}.lock`), log: join(directory, `${name}.log`) };
}

/** The runtime directory is used only if this user owns it: after `su` the variable may name another user's. */
function getDirectory(env: Readonly<Record<string, string | undefined>>, uid: number): string {
  const runtime = env.XDG_RUNTIME_DIR;
  if (runtime !== undefined && isAbsolute(runtime) && getStatus(runtime)?.uid === uid) return join(runtime, "codex-ts");
  return join(tmpdir(), `codex-ts-${uid}`);
}

function ensurePrivate(directory: string, uid: number): string {
  try {
    mkdirSync(directory, { mode: 0o700 });
  } catch (error) {
    if (!hasCode(error, "EEXIST")) throw notCreated(directory, error);
  }
  const status = lstatSync(directory);
  const refuse = (why: string) => {
    const advice = "remove it, or set XDG_RUNTIME_DIR to a directory that only you may enter";
    return new BackgroundError("unsafe_directory", `${directory} ${why}; ${advice}`);
  };
  if (!status.isDirectory()) throw refuse("is not a directory");
  if (status.uid !== uid) throw refuse(`belongs to user ${status.uid}, not to user ${uid}`);
  const mode = status.mode & 0o777;
  if ((mode & 0o077) !== 0) throw refuse(`has mode ${mode.toString(8)}, and 700 is needed`);
  return directory;
}

const notCreated = (directory: string, cause: unknown): BackgroundError =>
  notWritten(directory, cause, "cannot be created");

/** The error for a directory in which nothing can be written, with what to set. */
export function notWritten(directory: string, cause: unknown, what = "cannot be written"): BackgroundError {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : String(cause);
  const why = WHY[code] ?? code;
  const advice =
    "set XDG_RUNTIME_DIR to a directory that exists and that only you may enter, or TMPDIR to one that you may write";
  return new BackgroundError("unsafe_directory", `${directory} ${what}: ${why}; ${advice}`, { cause });
}

const WHY: Readonly<Record<string, string>> = {
  ENOENT: "a directory of its path does not exist",
  ENOTDIR: "what is above is not a directory",
  EROFS: "its file system is read-only",
  EACCES: "you may not write there",
  EPERM: "you may not write there",
  ENOSPC: "its file system is full",
  EDQUOT: "its disk quota is exceeded",
};

const getStatus = (path: string): Stats | undefined => lstatSync(path, { throwIfNoEntry: false });

const hasCode = (error: unknown, code: string): boolean =>
  error instanceof Error && "code" in error && error.code === code;
