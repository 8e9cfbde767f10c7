import { existsSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { OLD_FILES_DAYS } from "./limits.js";

/**
 * Removes logs and locks of servers that have no socket any more: each version and each set of options has files of its own.
 * What cannot be removed stays.
 */
export function removeOldFiles(directory: string, now: number = Date.now()): void {
  for (const name of readdirSync(directory)) {
    const [, stem] = /^(.+)\.(?:log(?:\.\d+)?|lock)$/.exec(name) ?? [];
    if (stem === undefined || existsSync(join(directory, `${stem}.sock`))) continue;
    try {
      const file = join(directory, name);
      if (now - statSync(file).mtimeMs > OLD_FILES_DAYS * MS_PER_DAY) rmSync(file);
    } catch {
      // removed in the meantime, or not a file
    }
  }
}

const MS_PER_DAY = 24 * 60 * 60 * 1000;
