import { posix } from "node:path";

/** Without `.`, `..`, doubled and trailing slashes. */
export function normalizePath(path: string): string {
  const normal = posix.normalize(path);
  return normal.length > 1 && normal.endsWith("/") ? normal.slice(0, -1) : normal;
}
