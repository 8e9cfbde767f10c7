import { expandBraces, renderNamePattern } from "@codex/permissions";

/** Whether a pattern (`*`, `?`, `**`, brackets, braces) matches a path, or a directory that it is in. */
export const isWithinPattern = (path: string, pattern: string): boolean => compilePattern(pattern)(path);

/** The same test, for many paths. A pattern with too many alternatives matches every path: no sandbox can hold it. */
export function compilePattern(pattern: string): (path: string) => boolean {
  let plain: string[];
  try {
    plain = expandBraces(pattern);
  } catch {
    return () => true;
  }
  const patterns = plain.map((each) => new RegExp(`^${renderPattern(each)}(?:/.*)?$`, "su"));
  return (path) => patterns.some((each) => each.test(path));
}

/** `**` matches any number of directories, including none; within a name it crosses directories as well. */
function renderPattern(pattern: string): string {
  const parts = pattern.split("/").map((part, at, all) => {
    const isLast = at === all.length - 1;
    if (part === "**") return isLast ? ".*" : "(?:[^/]+/)*";
    return part.split("**").map(renderNamePattern).join(".*") + (isLast ? "" : "/");
  });
  return parts.join("");
}
