import { type FSWatcher, watch } from "node:fs";
import { lstat, stat } from "node:fs/promises";
import { errnoOf } from "@codex/exec-backend";
import type { WatchMissingParams } from "@codex/exec-server-protocol";
import { baseName, type HostPath, isSamePath, joinPath, parentPath, pathBytes } from "@codex/exec-server-protocol";

import { MAX_WATCHED_DIRECTORIES, MAX_WATCHED_PATHS } from "../limits.js";
import { resolveMissing } from "../paths/resolve-target.js";

/** The one watch of a connection. */
export class MissingWatch {
  readonly #onChanged: (watchId: number) => void;
  #lastId = -1;
  #active: NameWatch | undefined;

  /** @param onChanged told once for each watch, never before the answer to it was made */
  constructor(onChanged: (watchId: number) => void) {
    this.#onChanged = onChanged;
  }

  /**
   * Watches until a path of `missing` (or a directory on the way to one) appears, or `present` goes; ids must grow. It
   * takes the place of the former watch, also when it watches nothing: because something is not as it was said, or
   * because the host cannot watch it.
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

/** First watches, then looks: what happens between is seen. */
async function begin(names: NameWatch, missing: readonly HostPath[], present: HostPath | undefined): Promise<boolean> {
  try {
    for (const path of present === undefined ? missing : [...missing, present]) {
      await watchWay(names, path);
      await watchWay(names, await resolveMissing(path));
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

/** Watches each directory on the way for the next name, as far as there are directories. */
async function watchWay(names: NameWatch, path: HostPath): Promise<boolean> {
  const parent = parentPath(path);
  if (isSamePath(parent, path)) return true;
  if (!(await watchWay(names, parent))) return false;
  names.add(parent, baseName(path));
  return stat(joinPath(parent, baseName(path))).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

/** Watches directories for names that come or go. */
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
      // A `change` is about contents; some systems do not tell the name.
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
