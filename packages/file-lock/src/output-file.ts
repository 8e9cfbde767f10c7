import { closeSync, constants, fstatSync, lstatSync, openSync, readlinkSync, realpathSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join, parse, resolve } from "node:path";
import { MAX_LINKS } from "./limits.js";

/** How an output file is opened. */
export interface OutputFileOptions {
  /** As of `fs.open`; default `w`. */
  readonly flags?: "w" | "wx" | "a" | "a+" | "ax" | "r+";
  /** Mode of a new file; default 666, less the umask. */
  readonly mode?: number;
  /** Further directories in which commands may create links, such as the workspace of a turn. */
  readonly open?: readonly string[];
}

/** A file is not written where a link, or something that is no file, would have it written elsewhere. */
export class OutputFileError extends Error {
  override readonly name = "OutputFileError";

  constructor(path: string, reason: string) {
    super(`${JSON.stringify(path)} ${reason}`);
  }
}

/**
 * Opens a file for writing in a directory where sandboxed commands, or other users, may have created links: a link that has the name of
 * the file is never followed, and links at directories only where this process would not let a command create them: not in the current
 * directory, temporary directories and those that `open` names. What exists must be a regular file. Paths below `/dev` and `/proc` are
 * opened as they are. The caller closes the file.
 * @throws OutputFileError, or the error of the system
 */
export async function openOutputFile(path: string, options: OutputFileOptions = {}): Promise<FileHandle> {
  const place = holdPlace(path, options);
  try {
    const file = await open(place.entry, place.flags, options.mode).catch((error: unknown) => {
      throw explain(path, error);
    });
    if (place.isSystem || (await file.stat()).isFile()) return file;
    await file.close();
    throw noFile(path);
  } finally {
    place.release();
  }
}

/** Like `openOutputFile`; returns a descriptor. */
export function openOutputFileSync(path: string, options: OutputFileOptions = {}): number {
  const place = holdPlace(path, options);
  try {
    const fd = openSync(place.entry, place.flags, options.mode);
    if (place.isSystem || fstatSync(fd).isFile()) return fd;
    closeSync(fd);
    throw noFile(path);
  } catch (error) {
    throw explain(path, error);
  } finally {
    place.release();
  }
}

/** The system's own links, such as /dev/stdout and /proc/self/fd/3, lead to what this process has open. */
const isSystemPath = (absolute: string): boolean => /^\/(?:dev|proc)\//.test(absolute);

interface Place {
  /** Path of the file below its held directory. */
  readonly entry: string;
  readonly flags: number;
  readonly isSystem: boolean;
  release(): void;
}

const { O_APPEND, O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW = 0, O_NONBLOCK = 0, O_RDWR, O_TRUNC, O_WRONLY } = constants;
/** Not among Node's constants; the value is the same on every Linux that Node runs on. */
const O_PATH = 0o10000000;

const FLAGS: Readonly<Record<NonNullable<OutputFileOptions["flags"]>, number>> = {
  w: O_WRONLY | O_CREAT | O_TRUNC,
  wx: O_WRONLY | O_CREAT | O_EXCL,
  a: O_WRONLY | O_CREAT | O_APPEND,
  "a+": O_RDWR | O_CREAT | O_APPEND,
  ax: O_WRONLY | O_CREAT | O_APPEND | O_EXCL,
  "r+": O_RDWR,
};

function holdPlace(path: string, { flags = "w", open: more = [] }: OutputFileOptions): Place {
  const absolute = resolve(path);
  if (isSystemPath(absolute)) {
    return { entry: absolute, flags: FLAGS[flags], isSystem: true, release: () => {} };
  }
  const directory = resolveDirectory(dirname(absolute), more);
  const name = basename(absolute);
  const safe = { flags: FLAGS[flags] | O_NOFOLLOW | O_NONBLOCK, isSystem: false };
  if (process.platform !== "linux") return { entry: join(directory, name), ...safe, release: () => {} };
  // Held, so that a link cannot take its place in the meantime.
  const held = openSync(directory, O_PATH | O_DIRECTORY | O_NOFOLLOW);
  const release = () => closeSync(held);
  const reached = readHeld(held);
  if (reached === undefined) return { entry: join(directory, name), ...safe, release };
  if (reached === directory) return { entry: `/proc/self/fd/${held}/${name}`, ...safe, release };
  release();
  throw new OutputFileError(directory, "was replaced");
}

/** Undefined where /proc is missing. */
function readHeld(fd: number): string | undefined {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    return undefined;
  }
}

/** The directory without links. @throws OutputFileError for one in a directory where commands may create it */
function resolveDirectory(directory: string, more: readonly string[]): string {
  if (realpathSync(directory) === directory) return directory;
  const roots = listOpenRoots(more);
  const { root } = parse(directory);
  let reached = root;
  let links = 0;
  const names = directory.slice(root.length).split("/").reverse();
  for (let name = names.pop(); name !== undefined; name = names.pop()) {
    const next = join(reached, name);
    const status = lstatSync(next);
    if (!status.isSymbolicLink()) {
      reached = next;
      continue;
    }
    const target = readlinkSync(next);
    links += 1;
    const isRefused = roots.some((open) => isWithin(reached, open)) && !isOfSystem(reached, status.uid);
    if (isRefused || links > MAX_LINKS) throw isLink(next, target);
    const to = resolve(reached, target);
    names.push(...to.slice(root.length).split("/").filter(Boolean).reverse());
    reached = root;
  }
  return reached;
}

/** Directories in which a sandbox lets commands write. The root directory is none: all links of the system are in it. */
const listOpenRoots = (more: readonly string[]): string[] =>
  [process.cwd(), tmpdir(), "/tmp", "/var/tmp", ...more].flatMap((directory) => {
    try {
      const real = realpathSync(directory);
      return real === "/" ? [] : [real];
    } catch {
      return [];
    }
  });

const isWithin = (path: string, root: string): boolean => path === root || path.startsWith(`${root}/`);

/** Whether root alone can have created the link, and this user is not root. */
function isOfSystem(directory: string, uid: number): boolean {
  const { uid: owner, mode } = lstatSync(directory);
  return uid === 0 && owner === 0 && (mode & 0o022) === 0 && process.getuid?.() !== 0;
}

const isLink = (link: string, target: string): OutputFileError =>
  new OutputFileError(
    link,
    `is a symbolic link to ${JSON.stringify(target)}, which a command may have created; name the target, or remove the link`,
  );

const noFile = (path: string): OutputFileError => new OutputFileError(path, "is not a regular file");

function explain(path: string, error: unknown): unknown {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  const absolute = resolve(path);
  if (isSystemPath(absolute)) return error;
  const status = code === "ELOOP" || code === "ENXIO" || code === "EMLINK" ? tryLstat(absolute) : undefined;
  if (status?.isSymbolicLink()) return isLink(absolute, readlinkSync(absolute));
  if (status !== undefined && !status.isFile()) return noFile(path);
  // Its path is that of the entry in the held directory.
  if (error instanceof Error && "path" in error && typeof error.path === "string") {
    error.message = error.message.replace(error.path, () => absolute);
    error.path = absolute;
  }
  return error;
}

function tryLstat(path: string) {
  try {
    return lstatSync(path);
  } catch {
    return undefined;
  }
}
