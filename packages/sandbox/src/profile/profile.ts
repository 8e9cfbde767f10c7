/** What a command may touch, with every path settled: the input of what makes a real sandbox of it. */
export interface SandboxProfile {
  fileSystem: "unrestricted" | RestrictedFiles;
  network: "restricted" | "enabled";
}

/** What a command may see of the file system. */
export interface RestrictedFiles {
  /** Outer paths before inner ones, each path once. What no entry covers does not exist. */
  entries: readonly ProfileEntry[];
  /** The parts of the system that programs need to run at all are readable. */
  minimal: boolean;
  /** Git directories that were opened for commits. */
  commits?: readonly string[];
}

export type PathAccess = "read" | "write" | "deny";

export interface ProfileEntry {
  /** Absolute, without links. */
  path: string;
  access: PathAccess;
  kind: "directory" | "file";
  /** Not there: it must not come into being. The path is the first part that is missing. */
  missing?: true;
  /** Only there so that a directory on the way to a protected one keeps its name. */
  pin?: true;
  /** Made anew, to hold what `mirrored` entries show of it and these links: what is put there later is not seen. */
  mirror?: readonly { name: string; target: string }[];
  /** As it is in a directory that is made anew; it may be gone by then. */
  mirrored?: true;
}

/** What holds for a path: the innermost entry around it. */
export function getAccess(files: RestrictedFiles, path: string): PathAccess | "none" {
  let access: PathAccess | "none" = "none";
  for (const entry of files.entries) if (isWithin(path, entry.path)) access = entry.access;
  return access;
}

/** Whether `path` is `directory` or lies below it. */
export const isWithin = (path: string, directory: string): boolean =>
  directory === "/" || path === directory || path.startsWith(`${directory}/`);

/** Nothing is held back: there is nothing to make. */
export const isUnlimited = ({ fileSystem, network }: SandboxProfile): boolean =>
  fileSystem === "unrestricted" && network === "enabled";

/** Outer paths first. */
export const byDepth = (one: { path: string }, other: { path: string }): number =>
  depthOf(one.path) - depthOf(other.path) || (one.path < other.path ? -1 : Number(one.path > other.path));

const depthOf = (path: string): number => (path === "/" ? 0 : path.split("/").length - 1);
