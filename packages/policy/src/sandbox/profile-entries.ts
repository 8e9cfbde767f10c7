import { posix } from "node:path";
import { isWithin, PROTECTED_NAMES, type SandboxEntry } from "@codex/permissions";
import { toEntry } from "./git-entries.js";
import type { PermissionProfile, ProfileEntry } from "./sandbox-settings.js";

/** Where a profile is used. */
export interface ProfilePlaces {
  roots: readonly string[];
  /** The home directory of the executor's host; known where an entry is below it. */
  home: string | undefined;
}

/**
 * The entries of a sandbox with those of a profile, which take the place of its own about the same place.
 * @param own of the mode that the profile extends
 */
export function withProfile(
  own: readonly SandboxEntry[],
  { base, entries }: PermissionProfile,
  places: ProfilePlaces,
): SandboxEntry[] {
  const added = entries.flatMap((entry) => toEntries(entry, places));
  const named = new Set(added.map(keyOf));
  const isWorkspace = entries.some((entry) => entry.place === "workspace_roots" && entry.access === "write");
  const closed = isWorkspace ? PROTECTED_NAMES.map((name) => special("project_roots", "read", name)) : [];
  const before = base === "none" ? closed : own;
  return [...before.filter((entry) => !named.has(keyOf(entry))), ...added];
}

/**
 * What a profile denies, with what it leaves open below that. It counts outside of the sandbox as well.
 * @returns empty where it denies nothing
 */
export function listDenied({ entries }: PermissionProfile, places: ProfilePlaces): SandboxEntry[] {
  const all = entries.flatMap((entry) => toEntries(entry, places));
  const denied = all.filter(({ access }) => access === "deny");
  return all.filter((entry) => entry.access === "deny" || denied.some((one) => isBelow(entry, one, places)));
}

function isBelow(entry: SandboxEntry, above: SandboxEntry, places: ProfilePlaces): boolean {
  const paths = locateEntry(entry, places);
  return locateEntry(above, places).some((outer) => paths.some((path) => isWithin(path, outer)));
}

/** What a profile opens by a path. */
export const locateOpened = ({ entries }: PermissionProfile, places: ProfilePlaces): string[] =>
  entries
    .filter(({ place, access }) => typeof place !== "string" && access !== "deny")
    .flatMap((entry) => toEntries(entry, places).flatMap((each) => locateEntry(each, places)));

/** Absolute paths of an entry, as far as they are known before the sandbox is created. */
export function locateEntry({ path }: SandboxEntry, { roots }: ProfilePlaces): string[] {
  if (path.type === "path") return [path.path];
  if (path.type === "glob_pattern") return [];
  const { kind, subpath = "." } = path.value;
  const bases = { root: ["/"], slash_tmp: ["/tmp"], project_roots: roots }[kind as string] ?? [];
  return bases.map((base) => posix.join(base, subpath));
}

/** Directories that a profile makes writable by their paths. */
export const listWritten = ({ entries }: PermissionProfile, places: ProfilePlaces): string[] =>
  entries
    .filter(({ access }) => access === "write")
    .flatMap((entry) => toEntries(entry, places))
    .flatMap(({ path }) => (path.type === "path" ? [path.path] : []));

/** Whether an entry has a place only where the home directory is known. */
export const isBelowHome = ({ place }: ProfileEntry): boolean =>
  typeof place !== "string" && place.path.startsWith("~/");

/** A profile that writes nothing. */
export const withoutWrites = (profile: PermissionProfile): PermissionProfile => ({
  ...profile,
  base: profile.base === "workspace" ? "read-only" : profile.base,
  entries: profile.entries.map((entry) => (entry.access === "write" ? { ...entry, access: "read" } : entry)),
});

const keyOf = ({ path }: SandboxEntry): string => JSON.stringify(path);

function toEntries({ place, subpath, access }: ProfileEntry, { roots, home }: ProfilePlaces): SandboxEntry[] {
  if (typeof place !== "string") {
    const written = subpath === undefined ? place.path : posix.join(place.path, subpath);
    const path = written.startsWith("~/") ? posix.join(home ?? "/", written.slice(2)) : posix.normalize(written);
    return [path === "/" ? special("root", access) : isPattern(path) ? pattern(path, access) : toEntry(path, access)];
  }
  if (subpath !== undefined && isPattern(subpath))
    return roots.map((root) => pattern(posix.join(root, subpath), access));
  return [special(KINDS[place], access, subpath)];
}

const isPattern = (path: string): boolean => /[*?[\]]/.test(path);

const KINDS = {
  root: "root",
  minimal: "minimal",
  workspace_roots: "project_roots",
  tmpdir: "tmpdir",
  slash_tmp: "slash_tmp",
} as const;

const pattern = (path: string, access: SandboxEntry["access"]): SandboxEntry => ({
  path: { type: "glob_pattern", pattern: path },
  access,
});

const special = (
  kind: (typeof KINDS)[keyof typeof KINDS],
  access: SandboxEntry["access"],
  subpath?: string,
): SandboxEntry => ({
  path: { type: "special", value: { kind, ...(subpath === undefined ? {} : { subpath }) } },
  access,
});
