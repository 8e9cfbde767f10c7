import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface Trial {
  directory: string;
  /** Modification time of its first file, by the clock of the file system; milliseconds since the epoch. */
  writtenAt: number;
}

/** Runs `use` with a new temporary directory, which is removed afterwards; undefined if none can be created. */
export function withTrialDirectory<T>(use: (trial: Trial) => T): T | undefined {
  let directory: string;
  try {
    directory = mkdtempSync(join(tmpdir(), "codex-doctor-"));
  } catch {
    return undefined;
  }
  try {
    const file = join(directory, "trial");
    writeFileSync(file, "");
    return use({ directory, writtenAt: statSync(file).mtimeMs });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
