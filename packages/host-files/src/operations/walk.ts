import type { Stats } from "node:fs";
import { lstat, stat } from "node:fs/promises";
import type { WalkParams, WalkResult } from "@codex/exec-server-protocol";
import { type HostPath, joinPath, toFileUrl } from "@codex/exec-server-protocol";
import { describeError, invalidRequest, withErrorPath } from "../errors.js";
import { MAX_WALK_ERRORS, SORT_SLACK } from "../limits.js";
import { refuseOwnDirectory } from "../paths/own-process.js";
import type { Reach } from "../paths/reach.js";
import { type ListedEntry, listDirectory } from "./list-directory.js";

/**
 * Lists files and directories below a directory, breadth first, each directory sorted by the bytes of the names. Other
 * kinds and links to files are omitted but counted; dangling links are not counted. A directory that is reached twice is
 * listed twice and entered once. The root must exist; the result is empty if it is not a directory.
 */
export async function walk(
  { path, options }: WalkParams,
  maxEntries: number,
  signal: AbortSignal,
  reach?: Reach,
): Promise<WalkResult> {
  if (options.maxDirectories === 0 || options.maxEntries === 0) {
    throw invalidRequest("filesystem walk limits must be greater than zero");
  }
  const target = await withErrorPath(path, () => stat(path));
  const result: WalkResult = { entries: [], errors: [], truncated: false };
  const isLink = async () => (await withErrorPath(path, () => lstat(path))).isSymbolicLink();
  if (!target.isDirectory() || (!options.followDirectorySymlinks && (await isLink()))) return result;
  const bounded = { ...options, maxEntries: Math.min(options.maxEntries, maxEntries) };
  await new Walk(bounded, result, signal, reach).run(path);
  return result;
}

interface Pending {
  path: HostPath;
  depth: number;
}

class Walk {
  readonly #options: WalkParams["options"];
  readonly #result: WalkResult;
  readonly #signal: AbortSignal;
  readonly #reach: Reach | undefined;
  readonly #entered = new Set<string>();
  #counted = 0;

  constructor(options: WalkParams["options"], result: WalkResult, signal: AbortSignal, reach: Reach | undefined) {
    this.#options = options;
    this.#result = result;
    this.#signal = signal;
    this.#reach = reach;
  }

  async run(root: HostPath): Promise<void> {
    const queue: Pending[] = [{ path: root, depth: 0 }];
    for (let at = 0; at < queue.length && !this.#result.truncated; at += 1) {
      const directory = queue[at]!;
      try {
        for (const found of await this.#enter(directory)) queue.push(found);
      } catch (error) {
        this.#signal.throwIfAborted();
        this.#addError(directory.path, error);
      }
    }
  }

  /** Lists the entries of a directory and returns the subdirectories to enter. */
  async #enter({ path, depth }: Pending): Promise<Pending[]> {
    await this.#reach?.(path);
    const { dev, ino, blocks } = await stat(path);
    await refuseOwnDirectory(path, { blocks });
    const identity = `${dev}:${ino}`;
    if (this.#entered.has(identity)) return [];
    if (this.#entered.size >= this.#options.maxDirectories) {
      this.#result.truncated = true;
      return [];
    }
    this.#entered.add(identity);
    const { entries, isCut } = await this.#listSorted(path);
    const found: Pending[] = [];
    for (const entry of entries) {
      const directory = await this.#addEntry(joinPath(path, entry.name), entry);
      if (this.#result.truncated) return [];
      if (directory !== undefined && this.#mayEnter(entry, depth)) found.push({ path: directory, depth: depth + 1 });
    }
    this.#result.truncated = isCut;
    return found;
  }

  /** Returns the path if it was added as a directory. */
  async #addEntry(path: HostPath, { kind }: ListedEntry): Promise<HostPath | undefined> {
    if (kind === "symlink") await this.#reach?.(path);
    const target = kind === "symlink" ? await stat(path).catch(() => undefined) : undefined;
    if (kind === "symlink" && target === undefined) return undefined;
    if (this.#counted >= this.#options.maxEntries) {
      this.#result.truncated = true;
      return undefined;
    }
    this.#counted += 1;
    const isDirectory = kind === "directory" || (this.#options.followDirectorySymlinks && isDirectoryTarget(target));
    if (isDirectory) this.#result.entries.push({ path: toFileUrl(path), kind: "directory" });
    else if (kind === "file") this.#result.entries.push({ path: toFileUrl(path), kind: "file" });
    return isDirectory ? path : undefined;
  }

  #mayEnter({ name }: ListedEntry, depth: number): boolean {
    const isHidden = name[0] === DOT;
    return depth < this.#options.maxDepth && !(isHidden && this.#options.pruneHiddenDirectories);
  }

  /** The first names in order; `isCut` means that there were more than can be counted. */
  async #listSorted(path: HostPath): Promise<{ entries: ListedEntry[]; isCut: boolean }> {
    const room = this.#options.maxEntries - this.#counted + SORT_SLACK;
    const entries: ListedEntry[] = [];
    let isCut = false;
    for await (const entry of listDirectory(path)) {
      this.#signal.throwIfAborted();
      entries.push(entry);
      if (entries.length < room * 2) continue;
      entries.sort(byName).splice(room);
      isCut = true;
    }
    entries.sort(byName);
    return { entries, isCut };
  }

  #addError(path: HostPath, error: unknown): void {
    if (this.#result.errors.length >= MAX_WALK_ERRORS) this.#result.truncated = true;
    else this.#result.errors.push({ path: toFileUrl(path), message: describeError(error) });
  }
}

const DOT = 0x2e;

const byName = (one: ListedEntry, other: ListedEntry): number => Buffer.compare(one.name, other.name);

const isDirectoryTarget = (target: Stats | undefined): boolean => target?.isDirectory() ?? false;
