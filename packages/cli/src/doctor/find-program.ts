import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";

/** Finds a program in `PATH` or in the standard directories. */
export function findProgram(name: string): { path: string; isOnPath: boolean } | undefined {
  const onPath = (process.env.PATH ?? "").split(delimiter).filter((directory) => directory.startsWith("/"));
  for (const directory of onPath) {
    if (isProgram(join(directory, name))) return { path: join(directory, name), isOnPath: true };
  }
  for (const directory of ["/bin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"]) {
    if (isProgram(join(directory, name))) return { path: join(directory, name), isOnPath: false };
  }
  return undefined;
}

/** Whether it is a file that this process may execute. */
export function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
