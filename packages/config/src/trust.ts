import { realpath, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { readPlainFile } from "@codex/plain-file";
import { MAX_GIT_FILE_BYTES } from "./limits.js";

type TrustLevel = "trusted" | "untrusted";

/** The project around a directory, and whether the user trusts it. */
export interface Project {
  /** The nearest ancestor with a marker, else the directory itself; a real path. */
  root: string;
  /** From the root to the directory, both included, each with its trust level. */
  directories: readonly { path: string; trust: TrustLevel | undefined }[];
  /** The trust level of the directory itself; undefined where the user has set none. */
  trust: TrustLevel | undefined;
  /** The path to mark as trusted. */
  toMark: string;
}

export type TrustTable = Readonly<Record<string, { trust_level?: TrustLevel | undefined }>>;

/**
 * The trust level of a directory is the first that is set for: the directory, the root of its project and, for a linked
 * worktree, the main checkout.
 */
export async function findProject(directory: string, markers: readonly string[], trust: TrustTable): Promise<Project> {
  const start = await realpath(directory).catch(() => resolve(directory));
  const root = (await findUp(start, markers)) ?? start;
  const main = await mainCheckout(root);
  const levels = await realTrust(trust);
  const levelOf = (path: string) => levels.get(path) ?? levels.get(root) ?? levels.get(main ?? root);
  const directories: { path: string; trust: TrustLevel | undefined }[] = [];
  for (let path = start; ; path = dirname(path)) {
    directories.unshift({ path, trust: levelOf(path) });
    if (path === root) break;
  }
  return { root, directories, trust: levelOf(start), toMark: main ?? root };
}

/** Trust levels by real path; an exact entry wins over one that resolves to the same path. */
async function realTrust(trust: TrustTable): Promise<Map<string, TrustLevel>> {
  const levels = new Map<string, TrustLevel>();
  const add = (path: string, level: TrustLevel | undefined) => {
    if (level !== undefined && !levels.has(path)) levels.set(path, level);
  };
  for (const [path, { trust_level }] of Object.entries(trust)) add(path, trust_level);
  for (const [path, { trust_level }] of Object.entries(trust)) {
    add(await realpath(path).catch(() => path), trust_level);
  }
  return levels;
}

async function findUp(start: string, markers: readonly string[]): Promise<string | undefined> {
  if (markers.length === 0) return undefined;
  for (let directory = start; ; directory = dirname(directory)) {
    for (const marker of markers) if (await exists(join(directory, marker))) return directory;
    if (dirname(directory) === directory) return undefined;
  }
}

const exists = (path: string) =>
  stat(path).then(
    () => true,
    () => false,
  );

/** The checkout a linked worktree belongs to, by its `.git` file; undefined for anything else. */
async function mainCheckout(root: string): Promise<string | undefined> {
  const text = await readText(join(root, ".git"));
  const gitDirectory = /^gitdir: (.+)$/m.exec(text)?.[1]?.trim();
  if (gitDirectory === undefined) return undefined;
  const main = /^(.+)\/\.git\/worktrees\/[^/]+$/.exec(resolve(root, gitDirectory))?.[1];
  if (main === undefined) return undefined;
  // The checkout must list this worktree, because any repository could contain such a `.git` file.
  const back = await readText(join(resolve(root, gitDirectory), "gitdir"));
  const known = await realpath(back.trim()).catch(() => "");
  if (known !== join(root, ".git")) return undefined;
  return await realpath(main).catch(() => undefined);
}

/** Empty for what cannot be read, such as a `.git` directory. */
const readText = (path: string): Promise<string> =>
  readPlainFile(path, { maxBytes: MAX_GIT_FILE_BYTES }).then(String, () => "");
