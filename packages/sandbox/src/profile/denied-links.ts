import { join, resolve } from "node:path/posix";
import { isWithin } from "@codex/permissions";
import { MAX_LINK_LEVELS, MAX_LINK_NAMES } from "../limits.js";
import type { HostFiles } from "./host-files.js";

/**
 * Where the links in a denied directory, and in directories within it, lead out of it: what is kept elsewhere and linked there
 * (`~/.ssh/id`) is denied with it. Links of others do not count, nor those below MAX_LINK_LEVELS levels or after MAX_LINK_NAMES names.
 */
export function listDeniedLinks(directory: string, files: HostFiles): string[] {
  const search = searchLinks(directory, files);
  let step = search.next();
  while (!step.done) step = search.next(step.value.map(files.list));
  return step.value;
}

/** As `listDeniedLinks`; the directories, which may be on other mounts, are read on the thread pool. */
export async function findDeniedLinks(directory: string, files: HostFiles): Promise<string[]> {
  const search = searchLinks(directory, files);
  let step = search.next();
  while (!step.done) step = search.next(await Promise.all(step.value.map(files.listLater)));
  return step.value;
}

type Listing = ReturnType<HostFiles["list"]>;

/** Yields the directories of one level after the other, and is given their listings. */
function* searchLinks(directory: string, files: HostFiles): Generator<string[], string[], readonly Listing[]> {
  const top = files.real(directory);
  if (top === undefined || files.kind(top) !== "directory") return [];
  const found: string[] = [];
  let left = MAX_LINK_NAMES;
  let level = [top];
  for (let count = 0; count < MAX_LINK_LEVELS && level.length > 0 && left > 0; count += 1) {
    const listings = yield level;
    const inner: string[] = [];
    for (const [index, at] of level.entries()) {
      const names = listings[index]!.slice(0, left);
      left -= names.length;
      found.push(...listTargets(at, names, files));
      inner.push(...names.filter(({ kind }) => kind === "directory").map(({ name }) => join(at, name)));
    }
    level = inner;
  }
  return found.filter((target) => !isWithin(target, top));
}

const listTargets = (at: string, names: Listing, files: HostFiles): string[] =>
  names
    .filter(({ kind }) => kind === "link")
    .map(({ name }) => join(at, name))
    .filter((path) => !files.isForeign(path))
    .flatMap((path) => files.target(path) ?? [])
    .map((target) => resolve(at, target));

/** Programs and libraries, and what is not a file of the user: links in a denied directory may lead there for other reasons. */
const SYSTEM = [
  "/usr",
  "/bin",
  "/sbin",
  "/lib",
  "/lib32",
  "/lib64",
  "/etc",
  "/opt",
  "/nix",
  "/dev",
  "/proc",
  "/sys",
  "/run",
];

/** Whether a place that such a link leads to can be denied. @param needed directories that the command works in */
export const isDeniableTarget = (path: string, needed: readonly string[], files: HostFiles): boolean =>
  !SYSTEM.some((directory) => isWithin(path, directory)) &&
  !needed.some((one) => isWithin(one, path)) &&
  !files.isProgram(path);
