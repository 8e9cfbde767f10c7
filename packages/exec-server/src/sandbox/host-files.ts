import { lstatSync, readdirSync, readFileSync, realpathSync } from "node:fs";

export type FileKind = "directory" | "file" | "link" | "missing";

/** The facts of a host that a profile depends on. */
export interface HostFiles {
  /** The path without links; undefined when it is not there. */
  real(path: string): string | undefined;
  /** What the path itself is; a link is not followed. `file` is anything but a directory or a link. */
  kind(path: string): FileKind;
  /** The first line of a small file; undefined when it cannot be read. */
  firstLine(path: string): string | undefined;
  /** Names and kinds in a directory; empty when it cannot be read. */
  list(directory: string): readonly { name: string; kind: FileKind }[];
  /** False for one that cannot be read as well. */
  isEmpty(directory: string): boolean;
  /** The host's own directory for temporary files, where it names one. */
  tmpDir: string | undefined;
}

export function createHostFiles(env: Readonly<Record<string, string | undefined>> = process.env): HostFiles {
  return {
    real: (path) => attempt(() => realpathSync.native(path)),
    kind: (path) => kindOf(lstatSync(path, { throwIfNoEntry: false })),
    firstLine: (path) => attempt(() => readFileSync(path, "utf8").split("\n", 1)[0]!),
    list: (directory) =>
      (attempt(() => readdirSync(directory, { withFileTypes: true })) ?? []).map((entry) => ({
        name: entry.name,
        kind: kindOf(entry),
      })),
    isEmpty: (directory) => attempt(() => readdirSync(directory).length === 0) ?? false,
    tmpDir: env.TMPDIR?.startsWith("/") ? env.TMPDIR : undefined,
  };
}

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
