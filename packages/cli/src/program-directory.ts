import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { codexHome } from "@codex/config";

/**
 * The directory in which programs that the user's configuration names are started, absolute. Not the directory of a project: `python3 -m`,
 * `npx` and others load code from where they start, and others may have written it. Sandboxes protect `CODEX_HOME`.
 */
export function openProgramDirectory(): string {
  const directory = join(resolve(codexHome()), "programs");
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    return directory;
  } catch {
    return "/"; // a home that is read-only
  }
}
