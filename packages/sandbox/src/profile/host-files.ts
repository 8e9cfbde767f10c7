import { isUtf8 } from "node:buffer";
import {
  accessSync,
  closeSync,
  fstatSync,
  lstatSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  readSync,
  realpathSync,
  statSync,
} from "node:fs";
import { readdir } from "node:fs/promises";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { openPlainFileSync } from "@codex/plain-file";
import { MAX_FIRST_LINE_BYTES, MAX_PARSED_FILES } from "../limits.js";
import { createFreshRuns } from "./fresh-runs.js";
import { isPlaceholder } from "./placeholder-mark.js";

export type FileKind = "directory" | "file" | "link" | "missing";

/** The facts of a host that a profile depends on. */
export interface HostFiles {
  /** The path without links; undefined when it does not exist. */
  real(path: string): string | undefined;
  /**
   * What the path itself is; a link is not followed. `file` is anything but a directory or a link. What this user cannot
   * access counts as missing, as it does for the command.
   */
  kind(path: string): FileKind;
  /**
   * Whether another user put it there: a link that neither this user nor root owns, or what such a user has in a directory that
   * everybody may write. False for what cannot be inspected.
   */
  isForeign(path: string): boolean;
  /** Whether everybody may create files in a directory, and replace only their own, as in /tmp. */
  isShared(directory: string): boolean;
  /** Names that are not UTF-8 in a directory, decoded, of what is not foreign. */
  ownUndecodable(directory: string): ReadonlySet<string>;
  /** Whether it is a regular file that may be executed. */
  isProgram(path: string): boolean;
  /** Target of a symbolic link; undefined for anything else. */
  target(path: string): string | undefined;
  /** Whether it is a regular file, not a socket, a FIFO or a device. */
  isPlainFile(path: string): boolean;
  /** First line of a file, at most `MAX_FIRST_LINE_BYTES` of it; undefined when it cannot be read or is not a regular file. */
  firstLine(path: string): string | undefined;
  /**
   * What `parse` makes of a regular file; undefined when it cannot be read or is longer than `most` bytes. Remembered for this
   * `parse` while the file does not change.
   */
  parsed<Value>(path: string, most: number, parse: (content: Buffer) => Value): Value | undefined;
  /** Names and kinds in a directory; empty when it cannot be read. */
  list(directory: string): readonly { name: string; kind: FileKind }[];
  /** As `list`, on the thread pool: one thread for a directory that does not answer, however many calls there are. Never rejects. */
  listLater(directory: string): Promise<readonly { name: string; kind: FileKind }[]>;
  /** False also for one that cannot be read. */
  isEmpty(directory: string): boolean;
  /** Whether it only reserves its name while some sandbox runs, and so counts as missing. */
  isPlaceholder(path: string): boolean;
  /** The host's own directory for temporary files, where it names one. */
  tmpDir: string | undefined;
  /** Files of git's configuration outside of repositories. */
  gitConfigs: readonly string[];
  /** The home directory of this user; undefined if there is none. */
  home: string | undefined;
  /** Absolute path of CODEX_HOME, with rules, settings and cache; undefined if there is none to protect. */
  codexHome: string | undefined;
  /** Absolute path of the directory with servers that `ssh://` environments have installed on this host. */
  serverCache: string | undefined;
}

export function createHostFiles(env: Readonly<Record<string, string | undefined>> = process.env): HostFiles {
  const home = env.HOME || homedir() || undefined;
  const listings = createFreshRuns<ReturnType<HostFiles["list"]>>();
  return {
    real: (path) => attempt(() => realpathSync.native(path)),
    kind: (path) => kindOf(lstatSyncOf(path)),
    isForeign,
    isShared: (directory) => ((lstatSyncOf(directory)?.mode ?? 0) & SHARED_MODE) === SHARED_MODE,
    ownUndecodable: (directory) => attempt(() => listOwnUndecodable(directory)) ?? new Set(),
    isProgram(path) {
      const there = lstatSyncOf(path);
      return there?.isFile() === true && (there.mode & ANY_EXECUTE) !== 0;
    },
    target: (path) => attempt(() => readlinkSync(path)),
    isPlainFile: (path) => lstatSyncOf(path)?.isFile() ?? false,
    firstLine: (path) => attempt(() => readRegular(path, readFirstLine)),
    parsed: createParsedFiles(),
    list: (directory) => (attempt(() => readdirSync(directory, { withFileTypes: true })) ?? []).map(toListed),
    listLater: (directory) =>
      listings(directory, async () =>
        (await readdir(directory, { withFileTypes: true }).catch(() => [])).map(toListed),
      ),
    isPlaceholder: (path) => attempt(() => isPlaceholder(path)) ?? false,
    isEmpty: (directory) => attempt(() => readdirSync(directory).length === 0) ?? false,
    tmpDir: env.TMPDIR?.startsWith("/") ? env.TMPDIR : undefined,
    gitConfigs: listGitConfigs(env, home),
    home,
    codexHome: resolve(env.CODEX_HOME || join(env.HOME || homedir(), ".codex")),
    serverCache: resolve(env.XDG_CACHE_HOME || join(env.HOME || homedir(), ".cache"), "codex-ts"),
  };
}

function listGitConfigs(env: Readonly<Record<string, string | undefined>>, home: string | undefined): string[] {
  const settings = env.XDG_CONFIG_HOME || (home && join(home, ".config"));
  const own = env.GIT_CONFIG_GLOBAL || undefined;
  const users =
    own === undefined ? [home && join(home, ".gitconfig"), settings && join(settings, "git/config")] : [own];
  return ["/etc/gitconfig", ...users].filter((path) => path?.startsWith("/") === true) as string[];
}

const ANY_EXECUTE = 0o111;
const OTHERS_WRITE = 0o002;
/** The sticky bit, and writable for everybody. */
const SHARED_MODE = 0o1002;

function isForeign(path: string | Buffer): boolean {
  const there = attempt(() => lstatSync(path, { throwIfNoEntry: false }));
  if (there === undefined || there.uid === 0 || there.uid === process.getuid?.()) return false;
  if (there.isSymbolicLink()) return true;
  const name = typeof path === "string" ? path : path.toString("latin1");
  const directory = name.slice(0, name.lastIndexOf("/")) || "/";
  const around = attempt(() => statSync(typeof path === "string" ? directory : Buffer.from(directory, "latin1")));
  return around !== undefined && (around.mode & OTHERS_WRITE) !== 0;
}

function listOwnUndecodable(directory: string): Set<string> {
  const names = readdirSync(directory, { encoding: "buffer" }).filter((name) => !isUtf8(name));
  const own = names.filter((name) => !isForeign(Buffer.concat([Buffer.from(`${directory}/`), name])));
  return new Set(own.map(String));
}

const lstatSyncOf = (path: string) => attempt(() => lstatSync(path, { throwIfNoEntry: false }));

function createParsedFiles(): HostFiles["parsed"] {
  const known = new WeakMap<(content: Buffer) => unknown, Map<string, { version: string; value: unknown }>>();
  return <Value>(path: string, most: number, parse: (content: Buffer) => Value) =>
    attempt(() =>
      readRegular(path, (fd, size) => {
        if (size > most) return undefined;
        const values = known.get(parse) ?? new Map<string, { version: string; value: unknown }>();
        known.set(parse, values);
        const { dev, ino, mtimeNs, ctimeNs } = fstatSync(fd, { bigint: true });
        const version = [dev, ino, size, mtimeNs, ctimeNs].join(":");
        const before = values.get(path);
        if (before?.version === version) return before.value as Value;
        const value = parse(readFileSync(fd));
        if (values.size >= MAX_PARSED_FILES) values.clear();
        values.set(path, { version, value });
        return value;
      }),
    );
}

/** @throws for what is no regular file */
function readRegular<Content>(path: string, read: (fd: number, size: number) => Content): Content {
  const fd = openPlainFileSync(path);
  try {
    return read(fd, fstatSync(fd).size);
  } finally {
    closeSync(fd);
  }
}

function readFirstLine(fd: number): string | undefined {
  const bytes = Buffer.alloc(MAX_FIRST_LINE_BYTES);
  return bytes.toString("utf8", 0, readSync(fd, bytes)).split("\n", 1)[0];
}

const toListed = (entry: Entry & { name: string }) => ({ name: entry.name, kind: kindOf(entry) });

type Entry = { isDirectory(): boolean; isSymbolicLink(): boolean };

function kindOf(entry: Entry | undefined): FileKind {
  if (entry === undefined) return "missing";
  if (entry.isSymbolicLink()) return "link";
  return entry.isDirectory() ? "directory" : "file";
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** Whether this process may access a path. @param mode as of `access`, such as `constants.W_OK` */
export function isAllowed(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
}
