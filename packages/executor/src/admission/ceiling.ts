import { readlink } from "node:fs/promises";
import { posix } from "node:path";
import { errnoOf } from "@codex/exec-backend";
import type { ExecCommandRequest, SandboxMode } from "@codex/executor-protocol";
import { type Ceiling, findExcess, getBoundedPaths } from "@codex/permissions";
import { messageOf } from "@codex/values";

/** The most that any command may do here, whatever an orchestrator sends. */
export interface CeilingOptions {
  /** Default `danger-full-access`: commands need no sandbox. */
  mode?: SandboxMode;
  /** Absolute directories in which commands are started and, below `danger-full-access`, may write. Default any. */
  roots?: readonly string[];
  /** Whether commands may use the network. Default: true for `danger-full-access`, else false. */
  network?: boolean;
}

/** Resolves a path of the host: absolute, links followed; it need not exist. */
export type ResolvePath = (path: string) => Promise<string>;

/** Resolves once the mounts that these paths are on answer; undefined if none of them can hang. Never rejects. */
export type ReachPaths = (paths: Iterable<string>) => Promise<void> | undefined;

export interface CeilingGuard {
  /** As `initialize` describes it. */
  getCeiling(): Promise<Ceiling>;
  /** Why a request exceeds the ceiling; undefined if it does not. Never rejects: a path that cannot be resolved is refused. */
  findExcess(request: Pick<ExecCommandRequest, "cwd" | "sandbox">): Promise<string | undefined>;
}

/** @throws RangeError for a root that is not absolute, or that refers to a different file in every process */
export function createCeilingGuard(
  { mode = "danger-full-access", roots = [], network = mode === "danger-full-access" }: CeilingOptions,
  temporaryDirectories: readonly string[],
  resolvePath: ResolvePath = resolveLocalPath,
  reachPaths: ReachPaths = () => undefined,
): CeilingGuard {
  const relative = roots.find((root) => !posix.isAbsolute(root));
  if (relative !== undefined) throw new RangeError(`ceiling.roots: \`${relative}\` is not absolute`);
  const perProcess = roots.find((root) => PER_PROCESS.test(posix.normalize(root)));
  if (perProcess !== undefined)
    throw new RangeError(`ceiling.roots: \`${perProcess}\` differs from process to process`);
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
        // Resolved each time: the target of a link may have changed.
        const bounded = getBoundedPaths(command, places);
        const [opened, closed] = [bounded.opened, bounded.closed].map((paths) => paths.filter(posix.isAbsolute));
        const paths = new Set([...opened!, ...closed!]);
        for (const path of paths) refusePerProcess(posix.normalize(path));
        // Resolving takes a thread for each path.
        await reachPaths([...paths, ...roots]);
        const isOpened = new Set(opened);
        const resolveOne = (path: string) =>
          isOpened.has(path) ? resolvePath(path) : resolveUnlessHidden(path, resolvePath);
        const real = new Map(
          await Promise.all([...paths].map(async (path) => [path, await resolveOne(path)] as const)),
        );
        const resolve = (path: string) => real.get(path) ?? path;
        return findExcess(command, await getCeiling(), { ...places, resolve });
      } catch (error) {
        return `a path in it cannot be resolved: ${messageOf(error)}`;
      }
    },
  };
}

/** Maximum number of links followed for one path. */
const MAX_LINKS = 40;

/** Paths that refer to a different file in every process. */
const PER_PROCESS = /^(?:\/proc\/(?:self|thread-self|\d+)|\/dev\/fd)(?:\/|$)/;

function refusePerProcess(path: string): void {
  if (PER_PROCESS.test(path)) throw new Error(`\`${path}\` differs from process to process`);
}

/**
 * Resolves the links in a path of this host, as far as it exists. @throws Error for a path that cannot be resolved, such as one
 * with a cycle of links, and for one through files in `/proc` that differ from process to process
 */
export async function resolveLocalPath(path: string): Promise<string> {
  let found = "/";
  let links = 0;
  const parts = path.split("/").filter(Boolean);
  for (let part = parts.shift(); part !== undefined; part = parts.shift()) {
    // `found` has no links, so `..` is its parent directory.
    const next = posix.join(found, part);
    refusePerProcess(next);
    const target = await readLink(next);
    if (target === undefined) return posix.join(next, ...parts);
    if (target === "") found = next;
    else {
      links += 1;
      if (links > MAX_LINKS) throw new Error(`too many links at \`${path}\``);
      parts.unshift(...target.split("/").filter(Boolean));
      if (target.startsWith("/")) found = "/";
    }
  }
  return found;
}

/** What this user may not even look up is closed already, wherever its links lead. */
const resolveUnlessHidden = (path: string, resolvePath: ResolvePath): Promise<string> =>
  resolvePath(path).catch((error: unknown) => {
    if (errnoOf(error) === "EACCES") return posix.normalize(path);
    throw error;
  });

/** The target of a link; empty if the path is not a link, undefined if it does not exist. */
async function readLink(path: string): Promise<string | undefined> {
  try {
    return await readlink(path);
  } catch (error) {
    const code = errnoOf(error);
    if (code === "EINVAL") return "";
    if (code === "ENOENT") return undefined;
    throw error;
  }
}
