import { expandBraces, renderNamePattern } from "@codex/permissions";
import { MAX_PATTERN_ENTRIES, MAX_PATTERN_MATCHES } from "../limits.js";
import type { HostFiles } from "./host-files.js";

export interface PatternBudget {
  /** Directories below the fixed part of a pattern; undefined for no bound. */
  maxDepth: number | undefined;
  entries: number;
  matches: number;
}

export const createPatternBudget = (maxDepth: number | undefined): PatternBudget => ({
  maxDepth,
  entries: MAX_PATTERN_ENTRIES,
  matches: MAX_PATTERN_MATCHES,
});

/**
 * The existing paths below `base` that match a pattern: `*`, `?` and `[…]` within a name, `**` across directories, `{a,b}`.
 * `base` is literal. Symbolic links are matched but not followed. What is foreign (`HostFiles`) is no match.
 * @throws Error when the budget is exceeded: a part of the matches would not be protected.
 */
export function expandPattern(pattern: string, files: HostFiles, budget: PatternBudget, base = "/"): string[] {
  const search = searchPattern(pattern, files, budget, base);
  let step = search.next();
  while (!step.done) step = search.next(files.list(step.value));
  return step.value;
}

/** As `expandPattern`, reading directories on the thread pool, with a turn of the event loop for each. */
export async function expandPatternLater(
  pattern: string,
  files: HostFiles,
  budget: PatternBudget,
  base: string,
): Promise<string[]> {
  const search = searchPattern(pattern, files, budget, base);
  // Other searches do not visit most of what is below a directory.
  const list = pattern.includes("**") && budget.maxDepth === undefined ? readAhead(files) : files.listLater;
  let step = search.next();
  while (!step.done) step = search.next(await list(step.value));
  return step.value;
}

/**
 * Reads one directory ahead on each level of a search that visits all of them, in their order: the search takes about as long as one
 * that blocks. Not more of them, because a mount that does not answer keeps a thread of the pool for each read.
 */
function readAhead(files: HostFiles): HostFiles["listLater"] {
  const begun = new Map<string, ReturnType<HostFiles["listLater"]>>();
  /** The directory that is visited after the one that is the key. */
  const following = new Map<string, string>();
  const begin = (directory: string | undefined) => {
    if (directory !== undefined && !begun.has(directory)) begun.set(directory, files.listLater(directory));
  };
  return async (directory) => {
    begin(following.get(directory));
    following.delete(directory);
    const entries = await (begun.get(directory) ?? files.listLater(directory));
    begun.delete(directory);
    const inner = entries.filter(({ kind }) => kind === "directory").map(({ name }) => join(directory, name));
    begin(inner[0]);
    for (const [index, path] of inner.slice(1).entries()) following.set(inner[index]!, path);
    return entries;
  };
}

/** Yields each directory whose entries it needs next, and returns the paths. */
function* searchPattern(
  pattern: string,
  files: HostFiles,
  budget: PatternBudget,
  base: string,
): Generator<string, string[], ReturnType<HostFiles["list"]>> {
  const found = new Set<string>();
  const isOneOfMany = pattern.includes("{");
  for (const plain of expandBraces(pattern)) yield* walk(base, plain.split("/").filter(Boolean), 0, isOneOfMany);
  return [...found];

  /**
   * @param isFound whether a wildcard or a list in braces led here: the directory may be on a mount that does not answer, so it is
   * listed before anything in it is examined
   */
  function* walk(
    directory: string,
    parts: readonly string[],
    depth: number,
    isFound: boolean,
  ): Generator<string, void, ReturnType<HostFiles["list"]>> {
    const [part, ...rest] = parts;
    if (part === undefined || depth > (budget.maxDepth ?? Number.POSITIVE_INFINITY)) return;
    if (part === "**") {
      yield* walk(directory, rest, depth, true);
      if (rest.length === 0) add(directory);
    } else if (!isPattern(part)) {
      const path = join(directory, part);
      const listed = isFound ? (yield directory).find(({ name }) => name === part) : undefined;
      const kind = listed?.kind ?? files.kind(path);
      if (kind === "missing") return;
      if (isFound && files.isForeign(path)) return;
      if (rest.length === 0) add(path);
      // A link in the literal part of a pattern is followed, as the user named it explicitly.
      else if (kind === "directory" || kind === "link") yield* walk(path, rest, depth, isFound);
      return;
    }
    const matcher = part === "**" ? undefined : toRegExp(part);
    let own: ReadonlySet<string> | undefined;
    for (const { name, kind } of yield directory) {
      // What others have in a directory that they may write costs no more than the test of its name.
      if (matcher?.test(name) === false) continue;
      const path = join(directory, name);
      budget.entries -= 1;
      if (budget.entries < 0) {
        throw tooMany(pattern, `directory entries to search, the last in \`${directory}\``, MAX_PATTERN_ENTRIES);
      }
      if (name.includes("\ufffd") && files.kind(path) === "missing") {
        own ??= files.ownUndecodable(directory);
        if (!own.has(name) || (matcher === undefined && kind !== "directory")) continue;
        throw new Error(`pattern \`${pattern}\` reaches \`${path}\`, whose name is not UTF-8: it cannot be closed`);
      }
      if (matcher === undefined) {
        if (kind === "directory") yield* walk(path, parts, depth + 1, true);
      } else if (rest.length === 0) {
        add(path);
      } else if (kind === "directory") yield* walk(path, rest, depth + 1, true);
    }
  }

  function add(path: string): void {
    if (found.has(path) || files.isForeign(path)) return;
    budget.matches -= 1;
    if (budget.matches < 0) throw tooMany(pattern, `matches, the last \`${path}\``, MAX_PATTERN_MATCHES);
    found.add(path);
  }
}

const tooMany = (pattern: string, what: string, limit: number) =>
  new Error(`pattern \`${pattern}\` has too many ${what}; the limit is ${limit}`);

/** The part of a pattern that is a path: before its first wildcard or brace. */
export const literalPart = (pattern: string): string => {
  const parts = pattern.split("/");
  const end = parts.findIndex((part) => /[*?[{]/.test(part));
  return parts.slice(0, end < 0 ? parts.length : end).join("/");
};

const isPattern = (part: string): boolean => /[*?[]/.test(part);

const join = (directory: string, name: string): string => (directory === "/" ? `/${name}` : `${directory}/${name}`);

const toRegExp = (part: string): RegExp => new RegExp(`^${renderNamePattern(part)}$`, "su");
