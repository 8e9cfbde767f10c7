import { readlink } from "node:fs/promises";
import { posix } from "node:path";
import type { ExecCommandRequest, SandboxMode } from "@codex/executor-protocol";
import { type Ceiling, findExcess, getBoundedPaths } from "@codex/permissions";

import { messageOf } from "@codex/telemetry";

/** The most that any orchestrator may let a command do here, whatever it sends. */
export interface CeilingOptions {
  /** Default `danger-full-access`: no sandbox has to hold a command. */
  mode?: SandboxMode;
  /** Absolute directories in which commands are started and, below `danger-full-access`, may write. Default any. */
  roots?: readonly string[];
  /** Whether commands may use the network. Default: true for `danger-full-access`, else false. */
  network?: boolean;
}

/** Where a path of the host leads: absolute, links followed, also of what does not exist yet. */
export type ResolvePath = (path: string) => Promise<string>;

export interface CeilingGuard {
  /** As `initialize` describes it. */
  getCeiling(): Promise<Ceiling>;
  /** Why a request is above the ceiling; undefined when it is not. Never rejects: a path that cannot be resolved is refused. */
  findExcess(request: Pick<ExecCommandRequest, "cwd" | "sandbox">): Promise<string | undefined>;
}

/** @throws RangeError for a root that is no absolute path, or that means another place to every process */
export function createCeilingGuard(
  { mode = "danger-full-access", roots = [], network = mode === "danger-full-access" }: CeilingOptions,
  temporaryDirectories: readonly string[],
  resolvePath: ResolvePath = resolveLocalPath,
): CeilingGuard {
  const odd = roots.find((root) => !posix.isAbsolute(root));
  if (odd !== undefined) throw new RangeError(`ceiling.roots: \`${odd}\` is not absolute`);
  const own = roots.find((root) => PROCESS_OWN.test(posix.normalize(root)));
  if (own !== undefined) throw new RangeError(`ceiling.roots: \`${own}\` is another place for every process`);
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
        const paths = new Set(getBoundedPaths(command, places).filter((path) => posix.isAbsolute(path)));
        for (const path of paths) checkSteady(posix.normalize(path));
        const real = new Map(
          await Promise.all([...paths].map(async (path) => [path, await resolvePath(path)] as const)),
        );
        const resolve = (path: string) => real.get(path) ?? path;
        return findExcess(command, await getCeiling(), { ...places, resolve });
      } catch (error) {
        return `a path in it cannot be resolved: ${messageOf(error)}`;
      }
    },
  };
}

/** Links that are followed on the way to one path. */
const MAX_LINKS = 40;

/** Paths that mean another place in every process: this one, the one that starts a command, and the command. */
const PROCESS_OWN = /^(?:\/proc\/(?:self|thread-self|\d+)|\/dev\/fd)(?:\/|$)/;

function checkSteady(path: string): void {
  if (PROCESS_OWN.test(path)) throw new Error(`\`${path}\` is another place for every process`);
}

/**
 * A path of this host, as far as it is there without links. @throws Error for one that cannot be followed, such as links
 * in a circle, and for one that leads by way of what `/proc` shows of a process.
 */
export async function resolveLocalPath(path: string): Promise<string> {
  let found = "/";
  let links = 0;
  const parts = path.split("/").filter(Boolean);
  for (let part = parts.shift(); part !== undefined; part = parts.shift()) {
    // What was found has no links: `..` is the directory above.
    const next = posix.join(found, part);
    checkSteady(next);
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

/** Where a link leads; empty for what is no link, undefined for what does not exist. */
async function readLink(path: string): Promise<string | undefined> {
  try {
    return await readlink(path);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "EINVAL") return "";
    if (code === "ENOENT") return undefined;
    throw error;
  }
}
