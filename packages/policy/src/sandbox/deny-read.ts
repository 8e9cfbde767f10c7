import type { HostInfo } from "@codex/executor-protocol";
import { isWithin } from "@codex/permissions";
import { CONTROLS, CREDENTIALS } from "./credential-places.js";
import { compilePattern, isWithinPattern } from "./paths.js";

/** Default of `denyRead`. */
export const DEFAULT_DENY_READ: readonly string[] = [...CREDENTIALS, ...CONTROLS];

/** A denied path or pattern on a host: absolute, with `~` replaced. */
export interface DeniedRead {
  /** The entry as it was written in the settings. */
  source: string;
  /** Absolute. */
  path: string;
  isPattern: boolean;
  /** Paths in it that stay readable; empty for a pattern. */
  except: readonly string[];
}

/** Marks a path that stays readable although an earlier entry of the list denies a directory that contains it. */
export const EXCEPTION = "!";

/** Whether a path, absolute and normalized, is or lies in something denied. */
export const isDeniedRead = (denied: DeniedRead, candidate: string): boolean => compileDeniedRead(denied)(candidate);

/** The same test, for many paths. */
export function compileDeniedRead({ path, isPattern, except }: DeniedRead): (candidate: string) => boolean {
  const isInside = isPattern ? compilePattern(path) : (candidate: string) => isWithin(candidate, path);
  return (candidate) => isInside(candidate) && !except.some((one) => isWithin(candidate, one));
}

/**
 * The denied paths and patterns on a host. Of two entries for the same path, the later counts. An entry below the home directory
 * also names the paths that the environment of the host replaces it with.
 * @param host without it, entries that begin with `~` cannot be resolved and are left out.
 */
export function resolveDenyRead(
  sources: readonly string[],
  host: Pick<HostInfo, "home" | "movedPaths"> | undefined,
): DeniedRead[] {
  let denied: DeniedRead[] = [];
  for (const source of sources) {
    const isException = source.startsWith(EXCEPTION);
    const written = isException ? source.slice(EXCEPTION.length) : source;
    for (const { path, isPattern } of locate(written, host)) {
      if (isException) denied = denied.flatMap((one) => exceptFrom(one, path));
      else denied.push({ source, path, isPattern, except: [] });
    }
  }
  return denied;
}

function exceptFrom(one: DeniedRead, path: string): DeniedRead[] {
  if (one.isPattern) return [one];
  if (isWithin(one.path, path)) return [];
  return [isWithin(path, one.path) ? { ...one, except: [...one.except, path] } : one];
}

type Location = Pick<DeniedRead, "path" | "isPattern">;

/** Where an entry is on a host: below the home directory, and where its environment puts that instead. */
function locate(source: string, host: Pick<HostInfo, "home" | "movedPaths"> | undefined): readonly Location[] {
  const isPattern = /[*?[\]]/.test(source);
  if (source !== "~" && !source.startsWith("~/")) return [{ path: source, isPattern }];
  if (host === undefined) return [];
  const { home, movedPaths = {} } = host;
  const below = (directory: string, rest: string) => {
    const path = `${isPattern ? escapePattern(directory) : directory}${rest}`;
    return { path: path.startsWith("//") ? path.slice(1) : path || "/", isPattern };
  };
  const moved = Object.entries(movedPaths).flatMap(([place, paths]) => {
    if (isWithin(source, place)) {
      return paths
        .filter((path) => source !== place || isNarrow(path, home))
        .map((path) => below(path, source.slice(place.length)));
    }
    const isCovered = isPattern ? isWithinPattern(place, source) : isWithin(place, source);
    return isCovered ? paths.filter((path) => isNarrow(path, home)).map((path) => ({ path, isPattern: false })) : [];
  });
  const all = [below(home, source.slice(1)), ...moved];
  return all.filter(({ path }, at) => all.findIndex((one) => one.path === path) === at);
}

/** Whether a path can be denied as a whole: denying the home directory, or a directory of the system, would stop every command. */
const isNarrow = (path: string, home: string): boolean => !isWithin(home, path) && path.lastIndexOf("/") > 0;

/** A pattern that matches a path. A brace, which brackets do not quote, becomes any character. */
const escapePattern = (path: string): string => path.replace(/[*?[]/g, "[$&]").replaceAll("{", "?");

/** Paths that stay readable in something denied. */
export const listReadable = (denied: readonly DeniedRead[]): string[] =>
  [...new Set(denied.flatMap(({ except }) => except))].filter((path) => !denied.some((one) => isDeniedRead(one, path)));
