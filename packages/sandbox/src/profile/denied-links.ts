import { join, resolve } from "node:path/posix";
import { isWithin } from "@codex/permissions";
import { MAX_LINK_NAMES } from "../limits.js";
import type { HostFiles } from "./host-files.js";

/**
 * Where the links in a denied directory, and in those directly within it, lead out of it: what is kept elsewhere and linked there
 * (`~/.ssh/id`) is denied with it. Links of others do not count, nor those after MAX_LINK_NAMES names.
 */
export function listDeniedLinks(directory: string, files: HostFiles): string[] {
  const search = beginSearch(directory, files);
  return search === undefined ? [] : search.find(search.inner.map(files.list));
}

/** As `listDeniedLinks`; directories in it, which may be on other mounts, are read on the thread pool. */
export async function findDeniedLinks(directory: string, files: HostFiles): Promise<string[]> {
  const search = beginSearch(directory, files);
  return search === undefined ? [] : search.find(await Promise.all(search.inner.map(files.listLater)));
}

type Listing = ReturnType<HostFiles["list"]>;

/** Undefined for what is no directory. */
function beginSearch(directory: string, files: HostFiles) {
  const top = files.real(directory);
  if (top === undefined || files.kind(top) !== "directory") return undefined;
  const names = files.list(top).slice(0, MAX_LINK_NAMES);
  const inner = names.filter(({ kind }) => kind === "directory").map(({ name }) => join(top, name));
  const findIn = (at: string, listing: Listing) =>
    listing
      .filter(({ kind }) => kind === "link")
      .map(({ name }) => join(at, name))
      .filter((path) => !files.isForeign(path))
      .flatMap((path) => files.target(path) ?? [])
      .map((target) => resolve(at, target))
      .filter((target) => !isWithin(target, top));
  return {
    inner,
    /** @param listings of `inner`. */
    find(listings: readonly Listing[]): string[] {
      let left = MAX_LINK_NAMES - names.length;
      const below = inner.flatMap((at, index) => {
        const listing = listings[index]!.slice(0, Math.max(0, left));
        left -= listing.length;
        return findIn(at, listing);
      });
      return [...findIn(top, names), ...below];
    },
  };
}

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
