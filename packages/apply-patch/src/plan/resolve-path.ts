/** Resolves a path without `.`, `..`, double or trailing slashes; does not follow symlinks. `cwd` is absolute. */
export function resolvePath(cwd: string, path: string): string {
  const parts: string[] = [];
  for (const part of (path.startsWith("/") ? path : `${cwd}/${path}`).split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return `/${parts.join("/")}`;
}

/** Whether a resolved path is strictly below a directory. */
export const isBelow = (path: string, directory: string): boolean =>
  path !== directory && path.startsWith(directory === "/" ? "/" : `${directory}/`);

/** Parent directories of a resolved path, nearest first, `/` last. */
export function getAncestors(path: string): string[] {
  const ancestors: string[] = [];
  for (let at = path.lastIndexOf("/"); at > 0; at = path.lastIndexOf("/", at - 1)) ancestors.push(path.slice(0, at));
  return [...ancestors, "/"];
}
