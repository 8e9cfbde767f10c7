import { readFileSync, stat } from "node:fs";
import { isAbsolute, normalize } from "node:path";
import { MAX_MOUNTS_AGE_MS } from "../limits.js";

/** Mounts that may not answer: of network file systems, and of programs (FUSE). A synchronous access would block this thread. */
export interface RemoteMounts {
  /**
   * Looks the paths that are below such mounts up on the thread pool, so that synchronous accesses afterwards find mounts that
   * answer; one at a time of each mount, as the pool has few threads. Undefined if there are none, without accessing any. The
   * promise never rejects, and never settles for a mount that does not answer.
   */
  reach(paths: Iterable<string>): Promise<void> | undefined;
}

/** What `createRemoteMounts` asks of the system. */
export interface RemoteMountsOptions {
  /** Content of `/proc/self/mountinfo`. @throws where there is none */
  readMounts?: () => string;
  /** Accesses a path on the thread pool. Never rejects. */
  lookUp?: (path: string) => Promise<void>;
  /** Milliseconds of a monotonic clock. */
  now?: () => number;
}

/** The remote mounts that this process sees, read again when the list is older than MAX_MOUNTS_AGE_MS; none on other systems than Linux. */
export function createRemoteMounts({
  readMounts = () => readFileSync("/proc/self/mountinfo", "utf8"),
  lookUp = (path) => new Promise<void>((resolve) => stat(path, () => resolve())),
  now = () => performance.now(),
}: RemoteMountsOptions = {}): RemoteMounts {
  let known: { points: readonly string[]; at: number } | undefined;
  const list = (): readonly string[] => {
    const at = now();
    if (known === undefined || at - known.at > MAX_MOUNTS_AGE_MS) known = { points: attempt(readMounts), at };
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
    reach(paths) {
      const points = list();
      if (points.length === 0) return undefined;
      const wanted = new Map<string, string>();
      for (const path of paths) {
        const plain = normalize(path);
        const point = isAbsolute(plain) ? points.find((each) => isBelow(plain, each)) : undefined;
        if (point !== undefined) wanted.set(plain, point);
      }
      if (wanted.size === 0) return undefined;
      return Promise.all([...wanted].map(([path, point]) => lookUpNext(path, point))).then(() => {});
    },
  };
}

const isBelow = (path: string, point: string): boolean => path === point || path.startsWith(`${point}/`);

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
