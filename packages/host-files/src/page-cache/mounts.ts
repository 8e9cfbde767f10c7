import { type FileHandle, open } from "node:fs/promises";
import type { Kernel } from "@codex/native";
import { MAX_MOUNTS_BYTES } from "../limits.js";

/**
 * Where a file lies. `disk`: here, and what is not in memory can be told from what is. `memory`: all of it is in
 * memory. `layered`: its directories are in memory, its content is a file elsewhere.
 */
export type MountKind = "disk" | "memory" | "layered";

/**
 * The mounts that this process sees. A kind is undefined for all that may be far away, or made while it is read, and
 * while the mounts are being read.
 */
export interface Mounts {
  kindOf(fd: number): MountKind | undefined;
  /** Of the mount that the root is on. */
  kindOfRoot(): MountKind | undefined;
  /** Resolves when the mounts are known or cannot be. Never rejects. */
  settled(): Promise<void>;
  /** Idempotent; never rejects. */
  close(): Promise<void>;
}

/**
 * A file system that is far away cannot be asked what it is without waiting for it. So the kernel is: which mount a
 * descriptor lies on, and once for all, on the thread pool, what mounts there are; again when they have changed.
 */
export function createMounts(kernel: Kernel, mountInfo = "/proc/self/mountinfo"): Mounts {
  let file: FileHandle | undefined;
  let known: { kinds: ReadonlyMap<number, MountKind>; root?: number | undefined } | undefined;

  const read = async () => {
    file ??= await open(mountInfo);
    // What changes from here on is told the next time.
    kernel.haveMountsChanged(file.fd);
    known = { kinds: parseMounts(await readWhole(file)) };
  };
  // Where it fails, nothing is known from then on.
  let reading = read().catch(() => {});
  /** Asked when the mount is found: if nothing has changed by then, its number means what it did when they were read. */
  const getKnown = () => {
    if (file !== undefined && known !== undefined && kernel.haveMountsChanged(file.fd)) {
      known = undefined;
      reading = read().catch(() => {});
    }
    return known;
  };
  return {
    kindOf(fd) {
      const mount = kernel.getMount(fd);
      return mount === undefined ? undefined : getKnown()?.kinds.get(mount);
    },
    kindOfRoot() {
      const now = getKnown();
      if (now === undefined) return undefined;
      now.root ??= getRootMount(kernel); // which may not be found while somebody mounts something
      return now.root === undefined ? undefined : now.kinds.get(now.root);
    },
    settled: () => reading,
    async close() {
      await reading;
      known = undefined;
      const closing = file;
      file = undefined;
      await closing?.close();
    },
  };
}

function getRootMount(kernel: Kernel): number | undefined {
  const root = kernel.find("/", { followsLast: true, staysOnRoot: true });
  if (root === undefined) return undefined;
  const mount = kernel.getMount(root);
  kernel.close(root);
  return mount;
}

/** @throws where there are more than fit: they may change as often as there are many */
async function readWhole(file: FileHandle): Promise<string> {
  const buffer = Buffer.allocUnsafe(MAX_MOUNTS_BYTES);
  for (let length = 0; length < buffer.length; ) {
    const { bytesRead } = await file.read(buffer, length, buffer.length - length, length);
    if (bytesRead === 0) return buffer.toString("latin1", 0, length);
    length += bytesRead;
  }
  throw new Error(`the mounts of this process take more than ${MAX_MOUNTS_BYTES} bytes to list`);
}

/** Lines as proc(5) has them: `36 35 98:0 /root /mount/point options [optional…] - ext3 source options`. */
function parseMounts(text: string): ReadonlyMap<number, MountKind> {
  const kinds = new Map<number, MountKind>();
  for (const line of text.split("\n")) {
    const kind = KINDS[/ - (\S+) /.exec(line)?.[1] ?? ""];
    if (kind !== undefined) kinds.set(Number.parseInt(line, 10), kind);
  }
  return kinds;
}

/** File systems of the kernel that are on this host. Those of a program (FUSE), a network or a cluster are not. */
const KINDS: Readonly<Record<string, MountKind>> = {
  bcachefs: "disk",
  btrfs: "disk",
  erofs: "disk",
  exfat: "disk",
  ext2: "disk",
  ext3: "disk",
  ext4: "disk",
  f2fs: "disk",
  jfs: "disk",
  overlay: "layered",
  ramfs: "memory",
  squashfs: "disk",
  tmpfs: "memory",
  vfat: "disk",
  xfs: "disk",
  zfs: "disk",
};
