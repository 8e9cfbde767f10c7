import { lstat, readlink, realpath } from "node:fs/promises";
import { posix } from "node:path";
import {
  type Ceiling,
  type ExecCommandRequest,
  findExcess,
  getBoundedPaths,
  type SandboxMode,
} from "@codex/executor-protocol";
import { messageOf } from "./errors.js";

/** The most that any orchestrator may let a command do here, whatever it sends. */
export interface CeilingOptions {
  /** Default `danger-full-access`: no sandbox has to hold a command. */
  mode?: SandboxMode;
  /** Absolute directories in which commands are started and, below `danger-full-access`, may write. Default any. */
  roots?: readonly string[];
  /** Default: as the mode has it, which is only `danger-full-access`. */
  network?: boolean;
}

/** Where a path of the host leads: absolute, links followed, also of what does not exist yet. */
export type ResolvePath = (path: string) => Promise<string>;

export interface CeilingGuard {
  /** As an orchestrator is told. */
  getCeiling(): Promise<Ceiling>;
  /** Why a request is above the ceiling; undefined when it is not. Never rejects: what cannot be looked at is refused. */
  findExcess(request: Pick<ExecCommandRequest, "cwd" | "sandbox">): Promise<string | undefined>;
}

/** @throws RangeError for a root that is no absolute path */
export function createCeilingGuard(
  { mode = "danger-full-access", roots = [], network = mode === "danger-full-access" }: CeilingOptions,
  temporaryDirectories: readonly string[],
  resolvePath: ResolvePath = resolveLocalPath,
): CeilingGuard {
  const odd = roots.find((root) => !posix.isAbsolute(root));
  if (odd !== undefined) throw new RangeError(`ceiling.roots: \`${odd}\` is not absolute`);
  const getCeiling = async (): Promise<Ceiling> => ({
    mode,
    roots: await Promise.all(roots.map(resolvePath)),
    network,
  });
  const places = { temporaryDirectories };
  return {
    getCeiling,
    async findExcess(command) {
      try {
        // Looked up each time: what a link leads to may have changed.
        const paths = new Set(getBoundedPaths(command, places).filter((path) => posix.isAbsolute(path)));
        const real = new Map(
          await Promise.all([...paths].map(async (path) => [path, await resolvePath(path)] as const)),
        );
        const resolve = (path: string) => real.get(path) ?? path;
        return findExcess(command, await getCeiling(), { ...places, resolve });
      } catch (error) {
        return `a path in it cannot be looked at: ${messageOf(error)}`;
      }
    },
  };
}

/** Links in a row that are followed where they lead to nothing. */
const MAX_DANGLING_LINKS = 40;

/** A path of this host. @throws Error for one that cannot be followed, such as links in a circle. */
export async function resolveLocalPath(path: string, links = MAX_DANGLING_LINKS): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
  }
  const parent = posix.dirname(path);
  if (parent === path) return path;
  const target = await readDanglingLink(path);
  if (target === undefined) return posix.join(await resolveLocalPath(parent, links), posix.basename(path));
  if (links === 0) throw new Error(`too many links at \`${path}\``);
  return resolveLocalPath(posix.resolve(await resolveLocalPath(parent, links - 1), target), links - 1);
}

async function readDanglingLink(path: string): Promise<string | undefined> {
  try {
    return (await lstat(path)).isSymbolicLink() ? await readlink(path) : undefined;
  } catch {
    return undefined; // it does not exist at all
  }
}
