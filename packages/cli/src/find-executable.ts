import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";

/** Why a shell could not start a program of this name; undefined when it could. */
export function findExecutable(name: string): string | undefined {
  if (name.includes("/")) return describeFile(name);
  const directories = (process.env.PATH ?? "").split(delimiter);
  const isThere = directories.some((directory) => describeFile(join(directory || ".", name)) === undefined);
  return isThere ? undefined : `there is no program \`${name}\` in PATH`;
}

function describeFile(path: string): string | undefined {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found === undefined) return `there is no file ${JSON.stringify(path)}`;
    if (found.isDirectory()) return `${JSON.stringify(path)} is a directory`;
    accessSync(path, constants.X_OK);
    return undefined;
  } catch {
    return `${JSON.stringify(path)} cannot be executed`;
  }
}
