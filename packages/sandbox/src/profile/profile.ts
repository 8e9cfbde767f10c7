import { isWithin } from "@codex/permissions";
/** What a command may access, with every path resolved on this host: the input of bubblewrap or Seatbelt. */
export interface SandboxProfile {
  fileSystem: "unrestricted" | RestrictedFiles;
  network: "restricted" | "enabled";
}

/** What a command may access in the file system. */
export interface RestrictedFiles {
  /** Outer paths before inner ones, each path once. What no entry covers is not visible. */
  entries: readonly ProfileEntry[];
  /** Whether the parts of the system that every program needs are readable. */
  minimal: boolean;
  /** Git directories that are writable for commits. */
  commits?: readonly string[];
}

export type PathAccess = "read" | "write" | "deny";

export interface ProfileEntry {
  /** Absolute, without links. */
  path: string;
  access: PathAccess;
  kind: "directory" | "file";
  /** Does not exist and must not be created. The path ends at its first missing part. */
  missing?: true;
  /** Missing, and what is denied is below it: it looks empty to the command, which finds nothing beside the denied path, either. */
  empty?: true;
  /** Exists only so that a directory above a protected path cannot be renamed. */
  pin?: true;
  /** An empty directory takes its place, with `mirrored` entries and these symbolic links: later additions are not visible. */
  mirror?: readonly { name: string; target: string }[];
  /** An entry of a mirrored directory; it may be gone when it is mounted. */
  mirrored?: true;
}

/** Access to a path: that of the innermost entry around it. */
export function getAccess(files: RestrictedFiles, path: string): PathAccess | "none" {
  let access: PathAccess | "none" = "none";
  for (const entry of files.entries) if (isWithin(path, entry.path)) access = entry.access;
  return access;
}

/** Whether nothing is restricted, so that no sandbox is needed. */
export const isUnlimited = ({ fileSystem, network }: SandboxProfile): boolean =>
  fileSystem === "unrestricted" && network === "enabled";

/** Outer paths first. */
export const byDepth = (one: { path: string }, other: { path: string }): number =>
  depthOf(one.path) - depthOf(other.path) || (one.path < other.path ? -1 : Number(one.path > other.path));

const depthOf = (path: string): number => (path === "/" ? 0 : path.split("/").length - 1);
