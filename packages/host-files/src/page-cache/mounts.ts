import { type FileHandle, open } from "node:fs/promises";
import type { Kernel } from "@codex/native";
import { MAX_MOUNTS_BYTES } from "../limits.js";

/**
 * Kind of a mount. `disk`: local, and the kernel can read without blocking (`RWF_NOWAIT`). `memory`: content is always in
 * memory. `layered`: directories are in memory, content is in a file of another mount.
 */
export type MountKind = "disk" | "memory" | "layered";

/**
 * The mounts that this process sees. A kind is undefined for file systems that may be remote or synthetic, and while the
 * list of mounts is being read.
 */
export interface Mounts {
  kindOf(fd: number): MountKind | undefined;
  /** Kind of the mount of `/`. */
  kindOfRoot(): MountKind | undefined;
  /** Resolves when the mounts are known or cannot be. Never rejects. */
  settled(): Promise<void>;
  /** Idempotent; never rejects. */
  close(): Promise<void>;
}

/**
 * A remote file system cannot be asked for its type without waiting for it, so the kernel is asked for the mount of a
 * descriptor, and the list of mounts is read on the thread pool: once, and again whenever it has changed.
 */
export function createMounts(kernel: Kernel, mountInfo = "/proc/self/mountinfo"): Mounts {
  let file: FileHandle | undefined;
  let known: { kinds: ReadonlyMap<number, MountKind>; root?: number | undefined } | undefined;

  const read = async () => {
    file ??= await open(mountInfo);
    // Resets the change flag, so that later changes are reported.
    kernel.haveMountsChanged(file.fd);
    known = { kinds: parseMounts(await readWhole(file)) };
  };
  // After a failure no kind is known.
  let reading = read().catch(() => {});
  /** Called after the mount id was looked up: if nothing has changed since the list was read, the id is still valid. */
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
      now.root ??= getRootMount(kernel); // the lookup can fail during a concurrent mount
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

/** @throws for a list over MAX_MOUNTS_BYTES: such hosts change their mounts too often to keep up */
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

/** Local file systems of the kernel. FUSE, network and cluster file systems are not listed. */
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
