import type { Sandbox } from "@codex/executor-protocol";
import type { HostFiles } from "./host-files.js";
import { type FoundPatterns, findPatterns, listSearches } from "./resolve-profile.js";

/** Finds the matches of the patterns of a sandbox, as of some moment after the call. Rejects with a StartError `sandbox_invalid`. */
export type PatternSearch = (sandbox: Sandbox) => Promise<FoundPatterns>;

interface Searching {
  running: Promise<FoundPatterns>;
  /** Begins when the current search has ended; shared by all calls since that began. */
  next: Promise<FoundPatterns> | undefined;
}

/**
 * Runs one search of each tree at a time, however many callers there are: calls during a search share the next one, as the
 * running one may have missed later changes.
 */
export function createPatternSearch(files: HostFiles): PatternSearch {
  const searches = new Map<string, Searching>();
  return async (sandbox) => {
    const wanted = listSearches(sandbox);
    if (wanted.length === 0) return new Map();
    const key = JSON.stringify(wanted);
    const begin = (): Promise<FoundPatterns> => {
      const running = findPatterns(sandbox, files);
      const mine: Searching = { running, next: undefined };
      searches.set(key, mine);
      const end = () => {
        if (searches.get(key) === mine && mine.next === undefined) searches.delete(key);
      };
      running.then(end, end);
      return running;
    };
    const searching = searches.get(key);
    if (searching === undefined) return begin();
    searching.next ??= searching.running.then(begin, begin);
    return searching.next;
  };
}
