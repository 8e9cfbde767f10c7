import { hasFunction } from "../libc/bind.js";
import type { Libc } from "../libc/libc.js";
import { getOwner, type NativeMarks } from "./marks.js";
import { spawnLock } from "./spawn-lock.js";

/**
 * Linux; undefined where the host does not support marks. The mark is the soft limit of RLIMIT_LOCKS, which is inherited at
 * every fork and exec and ignored by the kernel since Linux 2.4; only a program that reads this limit sees a difference. It
 * is set on this process during the call that starts another, and takes about a microsecond to read.
 */
export function createNativeMarks(libc: Libc): NativeMarks | undefined {
  if (!hasFunction(libc, "prlimit")) return undefined;
  const { prlimit } = libc;
  const unused = new BigUint64Array(2);
  const own = new BigUint64Array(2);
  if (prlimit(0, RLIMIT_LOCKS, null, own) !== 0) return undefined;
  const set = (mark: bigint) => prlimit(0, RLIMIT_LOCKS, BigUint64Array.of(mark, own[1]!), unused) === 0;
  const restore = () => prlimit(0, RLIMIT_LOCKS, own, unused);
  if (!set(PROBE)) return undefined;
  restore();
  const limits = new BigUint64Array(2);
  return {
    give(mark, start) {
      spawnLock.acquire();
      set(mark);
      try {
        return start();
      } finally {
        restore();
        spawnLock.release();
      }
    },
    get(pid) {
      const mark = prlimit(pid, RLIMIT_LOCKS, null, limits) === 0 ? limits[0] : undefined;
      return getOwner(mark) === undefined ? undefined : mark;
    },
  };
}

/** The same number on every architecture. */
const RLIMIT_LOCKS = 10;

/** As large as any mark: a host with a lower hard limit, or that does not allow setting it, does not support marks. */
const PROBE = 9_000_000_000_000_000_000n;
