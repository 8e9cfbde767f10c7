import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { readPlainFile } from "@codex/plain-file";
import { decodeText } from "@codex/values";
import { MAX_LISTED_SKILLS, MAX_READ_DOC_BYTES, MAX_SKILL_BYTES } from "../limits.js";
import type { HomeFiles } from "./project-context.js";

/** Directory levels searched below a skills directory, as in a project. */
const MAX_DEPTH = 6;

/** Locations of the user's own files. */
export interface HomeFilesOptions {
  /** Configuration directory with `AGENTS.md` and `skills`. */
  codexHome: string;
  /** Home directory of the user, with `.agents/skills`. */
  home: string;
  /** The environment shares this file system. */
  isShared: boolean;
}

/** Reads the user's instructions and skills on this host, again on each call. Unreadable files are ignored. */
export function createHomeFiles({ codexHome, home, isShared }: HomeFilesOptions): HomeFiles {
  return {
    readDoc: (name) => readAtMost(join(codexHome, name), MAX_READ_DOC_BYTES),
    async readSkills() {
      const roots = [join(codexHome, "skills"), join(home, ".agents/skills")];
      const found = await Promise.all(roots.map(async (root) => ({ root, paths: await findSkills(root, MAX_DEPTH) })));
      const files = found
        .flatMap(({ root, paths }) => paths.map((path) => ({ root, path })))
        .slice(0, MAX_LISTED_SKILLS);
      const read = await Promise.all(
        files.map(async (file) => ({ ...file, bytes: await readAtMost(file.path, MAX_SKILL_BYTES) })),
      );
      return read.flatMap(({ bytes, ...file }) => (bytes === undefined ? [] : [{ ...file, text: decodeText(bytes) }]));
    },
    isShared,
  };
}

/** Sorted paths; skips hidden directories and does not follow directory symlinks. */
async function findSkills(directory: string, depth: number): Promise<string[]> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => []);
  const names = entries.filter((entry) => entry.isDirectory() && !entry.name.startsWith(".")).map(({ name }) => name);
  const own = entries.some((entry) => entry.name === "SKILL.md" && !entry.isDirectory())
    ? [join(directory, "SKILL.md")]
    : [];
  if (depth === 0) return own;
  const below = await Promise.all(names.sort().map((name) => findSkills(join(directory, name), depth - 1)));
  return [...own, ...below.flat()].slice(0, MAX_LISTED_SKILLS);
}

/** Undefined when it is missing, no regular file or larger than `maxBytes`. */
const readAtMost = (path: string, maxBytes: number): Promise<Uint8Array | undefined> =>
  readPlainFile(path, { maxBytes }).catch(() => undefined);
