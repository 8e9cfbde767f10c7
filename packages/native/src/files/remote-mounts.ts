import { lstatSync, readFileSync, readlinkSync, stat } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { MAX_LINKS_FOLLOWED, MAX_MOUNTS_AGE_MS } from "../limits.js";

/** Mounts that may not answer: of network file systems, and of programs (FUSE). A synchronous access would block this thread. */
export interface RemoteMounts {
  /**
   * Looks up on the thread pool the paths that are below such mounts, directly or through links, so that synchronous accesses
   * afterwards find mounts that answer; one at a time of each mount, as the pool has few threads. Undefined if no path is,
   * without accessing any, and without iterating if the host has no such mount. The promise never rejects, and never settles
   * for a mount that does not answer.
   */
  reach(paths: Iterable<string>): Promise<void> | undefined;
  /** Whether such a mount is at this path, which is without links. */
  isAt(path: string): boolean;
}

/** What `createRemoteMounts` asks of the system. */
export interface RemoteMountsOptions {
  /** Content of `/proc/self/mountinfo`. @throws where there is none */
  readMounts?: () => string;
  /** Accesses a path on the thread pool. Never rejects. */
  lookUp?: (path: string) => Promise<void>;
  /** Target of a symbolic link; undefined for anything else. Asked only of what is not below such a mount. */
  readLink?: (path: string) => string | undefined;
  /** Milliseconds of a monotonic clock. */
  now?: () => number;
}

/** The remote mounts that this process sees, read again when the list is older than MAX_MOUNTS_AGE_MS; none on other systems than Linux. */
export function createRemoteMounts({
  readMounts = () => readFileSync("/proc/self/mountinfo", "utf8"),
  lookUp = (path) => new Promise<void>((resolve) => stat(path, () => resolve())),
  readLink = readLinkNow,
  now = () => performance.now(),
}: RemoteMountsOptions = {}): RemoteMounts {
  let known: { points: ReadonlySet<string>; at: number } | undefined;
  const list = (): ReadonlySet<string> => {
    const at = now();
    if (known === undefined || at - known.at > MAX_MOUNTS_AGE_MS) known = { points: new Set(attempt(readMounts)), at };
    return known.points;
  };
  /** The last look-up of each mount with one in progress. */
  const last = new Map<string, Promise<void>>();
  const lookUpNext = (path: string, point: string): Promise<void> => {
    const before = last.get(point);
    const own = before === undefined ? lookUp(path) : before.then(() => lookUp(path));
    last.set(point, own);
    return own.then(() => {
      if (last.get(point) === own) last.delete(point);
    });
  };
  return {
    isAt: (path) => list().has(path),
    reach(paths) {
      const points = list();
      if (points.size === 0) return undefined;
      const follow = createFollower(points, readLink);
      const wanted = new Map<string, string>();
      for (const path of paths) {
        const found = isAbsolute(path) ? follow(path) : undefined;
        if (found !== undefined) wanted.set(found.path, found.point);
      }
      if (wanted.size === 0) return undefined;
      return Promise.all([...wanted].map(([path, point]) => lookUpNext(path, point))).then(() => {});
    },
  };
}

/** Finds the first remote mount on the way to a path, as the kernel goes it, and the path without the links before it. */
function createFollower(points: ReadonlySet<string>, readLink: (path: string) => string | undefined) {
  const targets = new Map<string, string | undefined>();
  const readOnce = (path: string) => {
    if (!targets.has(path)) targets.set(path, readLink(path));
    return targets.get(path);
  };
  return (path: string): { point: string; path: string } | undefined => {
    const rest = path.split("/").reverse();
    let at = "/";
    for (let links = 0; rest.length > 0; ) {
      const name = rest.pop()!;
      if (name === "" || name === ".") continue;
      const next = name === ".." ? dirname(at) : join(at, name);
      if (points.has(next)) return { point: next, path: [next, ...rest.reverse()].join("/") };
      const target = name === ".." ? undefined : readOnce(next);
      if (target === undefined) {
        at = next;
        continue;
      }
      links += 1;
      if (links > MAX_LINKS_FOLLOWED) return undefined;
      if (target.startsWith("/")) at = "/";
      rest.push(...target.split("/").reverse());
    }
    return undefined;
  };
}

function readLinkNow(path: string): string | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ? readlinkSync(path) : undefined;
  } catch {
    return undefined;
  }
}

function attempt(readMounts: () => string): string[] {
  try {
    return parseRemote(readMounts());
  } catch {
    return [];
  }
}

/**
 * Mount points of lines as proc(5) has them: `36 35 98:0 /root /mount/point options [optional…] - type source options`. Without
 * that of `/`: this process itself depends on it.
 */
function parseRemote(text: string): string[] {
  return text.split("\n").flatMap((line) => {
    const [, point, type] = /^(?:\S+ ){4}(\S+) .*? - (\S+) /.exec(line) ?? [];
    if (point === undefined || type === undefined || point === "/" || !REMOTE.test(type)) return [];
    return [point.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)))];
  });
}

/** `fuseblk` is a local disk, whose program can hang as well. */
const REMOTE =
  /^(fuse(\..*)?|fuseblk|nfs\d?|cifs|smb\d?|9p|virtiofs|ceph|afs|lustre|gpfs|beegfs|glusterfs|orangefs|ocfs2|gfs2|autofs|vboxsf|prl_fs)$/;
