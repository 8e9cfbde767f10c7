/** Whether a path is this directory, or below it. Both absolute and normalized. */
export const isWithinDirectory = (path: string, directory: string): boolean =>
  path === directory || directory === "/" || path.startsWith(`${directory}/`);

/** Whether a pattern (`*`, `?`, `**`, classes) matches a path, or a directory that it is in. */
export function isWithinPattern(path: string, pattern: string): boolean {
  const source = pattern.replace(TOKENS, (token) => {
    if (token === "**/") return "(?:[^/]+/)*";
    if (token === "**") return ".*";
    if (token === "*") return "[^/]*";
    if (token === "?") return "[^/]";
    if (token.startsWith("[") && token.length > 1) return token.replace(/^\[!/, "[^").replaceAll("\\", "\\\\");
    return `\\${token}`;
  });
  return new RegExp(`^${source}(?:/.*)?$`, "s").test(path);
}

/** Wildcards, classes, and characters that mean something in a regular expression only. */
const TOKENS = /\*\*\/|\*\*|\*|\?|\[!?\]?[^\]]*\]|[\\^$.|+()[\]{}]/g;
