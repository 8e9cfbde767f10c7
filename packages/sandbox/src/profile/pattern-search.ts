import type { Sandbox } from "@codex/executor-protocol";
import { createFreshRuns } from "./fresh-runs.js";
import type { HostFiles } from "./host-files.js";
import { type FoundPatterns, findPatterns, listDenied, listSearches } from "./resolve-profile.js";

/**
 * Finds the matches of the patterns of a sandbox, and where links in what it denies lead, as of some moment after the call. Rejects with a
 * StartError `sandbox_invalid`.
 */
export type PatternSearch = (sandbox: Sandbox) => Promise<FoundPatterns>;

/** Runs one search of each tree at a time, however many callers there are. */
export function createPatternSearch(files: HostFiles): PatternSearch {
  const searches = createFreshRuns<FoundPatterns>();
  return async (sandbox) => {
    const wanted = [...listSearches(sandbox), ...listDenied(sandbox, files)];
    if (wanted.length === 0) return new Map();
    return searches(JSON.stringify(wanted), () => findPatterns(sandbox, files));
  };
}
