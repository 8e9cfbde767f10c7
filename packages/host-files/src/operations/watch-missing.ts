import { type FSWatcher, watch } from "node:fs";
import { lstat, stat } from "node:fs/promises";
import { errnoOf } from "@codex/exec-backend";
import type { WatchMissingParams } from "@codex/exec-server-protocol";
import { baseName, type HostPath, isSamePath, joinPath, parentPath, pathBytes } from "@codex/exec-server-protocol";

import { MAX_WATCHED_DIRECTORIES, MAX_WATCHED_PATHS } from "../limits.js";
import { resolveMissing } from "../paths/resolve-target.js";

/** The watch of a connection, which has one at a time. */
export class MissingWatch {
  readonly #onChanged: (watchId: number) => void;
  #lastId = -1;
  #active: NameWatch | undefined;

  /** @param onChanged called once for each watch, never before `watch` has resolved */
  constructor(onChanged: (watchId: number) => void) {
    this.#onChanged = onChanged;
  }

  /**
   * Watches until a path of `missing` (or one of its missing ancestors) appears, or `present` disappears; ids must increase.
   * Always replaces the previous watch. Resolves false if nothing is watched: the paths are not in the given state, or the
   * host cannot watch them.
   */
  async watch({ watchId, missing, present }: WatchMissingParams): Promise<boolean> {
    if (watchId <= this.#lastId) return false;
    this.#lastId = watchId;
    this.dispose();
    if (missing.length === 0 || missing.length > MAX_WATCHED_PATHS) return false;
    const current = new NameWatch();
    this.#active = current;
    const isWatching = await begin(current, missing, present);
    if (this.#active !== current || !isWatching || current.isChanged) {
      current.stop();
      return false;
    }
    current.onChanged = () => {
      this.dispose();
      this.#onChanged(watchId);
    };
    return true;
  }

  /** Ends the watch. Idempotent. */
  dispose(): void {
    this.#active?.stop();
    this.#active = undefined;
  }
}

/** Watches first and checks afterwards, so that no change in between is missed. */
async function begin(names: NameWatch, missing: readonly HostPath[], present: HostPath | undefined): Promise<boolean> {
  try {
    for (const path of present === undefined ? missing : [...missing, present]) {
      await watchAncestors(names, path);
      await watchAncestors(names, await resolveMissing(path));
    }
    for (const path of missing) if (!(await isMissing(path))) return false;
    return present === undefined || !(await isMissing(present));
  } catch {
    return false; // a directory that cannot be read or watched
  }
}

async function isMissing(path: HostPath): Promise<boolean> {
  try {
    await lstat(path);
    return false;
  } catch (error) {
    if (errnoOf(error) !== "ENOENT") throw error;
    return true;
  }
}

/** Watches each existing ancestor for the next name of the path. */
async function watchAncestors(names: NameWatch, path: HostPath): Promise<boolean> {
  const parent = parentPath(path);
  if (isSamePath(parent, path)) return true;
  if (!(await watchAncestors(names, parent))) return false;
  names.add(parent, baseName(path));
  return stat(joinPath(parent, baseName(path))).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

/** Watches directories for names that appear or disappear. */
class NameWatch {
  readonly #directories = new Map<string, { names: Set<string>; watcher: FSWatcher }>();
  onChanged: (() => void) | undefined;
  isChanged = false;

  /** @throws where the system cannot watch, and at the limit of directories */
  add(directory: HostPath, name: HostPath): void {
    const key = toKey(directory);
    const known = this.#directories.get(key);
    if (known !== undefined) {
      known.names.add(toKey(name));
      return;
    }
    if (this.#directories.size >= MAX_WATCHED_DIRECTORIES) throw new Error("too many directories to watch");
    const names = new Set([toKey(name)]);
    const watcher = watch(directory, { encoding: "buffer", persistent: false }, (event, changed) => {
      // `change` events are about content; some systems do not report the name.
      if (changed === null || (event === "rename" && names.has(toKey(changed)))) this.#change();
    });
    watcher.on("error", () => this.#change());
    this.#directories.set(key, { names, watcher });
  }

  stop(): void {
    this.onChanged = undefined;
    for (const { watcher } of this.#directories.values()) watcher.close();
    this.#directories.clear();
  }

  #change(): void {
    this.isChanged = true;
    this.onChanged?.();
  }
}

const toKey = (path: HostPath): string => pathBytes(path).toString("latin1");
