/** An entry of a directory. */
export interface ListedEntry {
  readonly name: string;
  readonly isDirectory: boolean;
  readonly isFile: boolean;
}

/** Bounds of a listing. */
export interface ListingBounds {
  /** Levels of directories; from 1. */
  readonly depth: number;
  /** Most entries. */
  readonly limit: number;
}

/**
 * Lists a directory level by level, each entry indented by its depth: directories end with `/`, what is neither file nor directory with `?`.
 * A directory below that cannot be read is listed with the reason. @param read rejects if a directory cannot be read
 */
export async function listDirectory(
  path: string,
  read: (path: string) => Promise<readonly ListedEntry[]>,
  { depth, limit }: ListingBounds,
): Promise<string> {
  const root: Node = { name: path, suffix: "", below: [] };
  let left = limit;
  let isCut = false;
  let level: { path: string; node: Node }[] = [{ path, node: root }];
  for (let at = 1; at <= depth && level.length > 0; at += 1) {
    const next: typeof level = [];
    for (const { path: directory, node } of level) {
      const entries =
        at === 1 ? await read(directory) : await read(directory).catch((error: unknown) => describe(error));
      if (typeof entries === "string") {
        node.suffix += ` (${entries})`;
        continue;
      }
      for (const { name, isDirectory, isFile } of [...entries].sort((a, b) => (a.name < b.name ? -1 : 1))) {
        if (left === 0) {
          isCut = true;
          break;
        }
        left -= 1;
        const child: Node = { name, suffix: isDirectory ? "/" : isFile ? "" : "?", below: [] };
        node.below.push(child);
        if (isDirectory) next.push({ path: `${directory === "/" ? "" : directory}/${name}`, node: child });
      }
    }
    level = next;
  }
  const lines = [`Absolute path: ${path}`, ...render(root.below, 0)];
  if (root.below.length === 0) lines.push("(the directory is empty)");
  if (isCut) lines.push(`(there are more than ${limit} entries: list a directory below, or with a larger limit)`);
  return lines.join("\n");
}

interface Node {
  readonly name: string;
  suffix: string;
  readonly below: Node[];
}

/** A name with a line break would look like several. */
const render = (nodes: readonly Node[], depth: number): string[] =>
  nodes.flatMap(({ name, suffix, below }) => [
    `${"  ".repeat(depth)}${/[\n\r]/.test(name) ? JSON.stringify(name) : name}${suffix}`,
    ...render(below, depth + 1),
  ]);

const describe = (error: unknown): string => (error instanceof Error ? error.message : "it cannot be read");
