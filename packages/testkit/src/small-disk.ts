import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdtempSync, openSync, rmdirSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

/** A small file system in memory, in a private mount namespace. */
export interface SmallDisk {
  /** Its root, accessible to any process of this user while the disk is open. */
  readonly path: string;
  /** Fills the free space. */
  fill(): void;
  /** Frees the space taken by `fill`. */
  free(): void;
  close(): Promise<void>;
}

/** In a user namespace, or as root where user namespaces are forbidden. */
const NAMESPACES = [["--user", "--map-root-user", "--mount"], ["--mount"]];

/** Why a small disk cannot be created here; undefined if it can. */
export function findSmallDiskProblem(): string | undefined {
  if (process.platform !== "linux")
    return `small disks are made with mount namespaces of Linux, not ${process.platform}`;
  return findNamespace() === undefined
    ? "no mount namespace may be made here (`unshare --map-root-user --mount`)"
    : undefined;
}

/** @param bytes a multiple of the page size. @throws Error when it cannot be created */
export async function openSmallDisk(bytes: number): Promise<SmallDisk> {
  const namespace = findNamespace();
  if (namespace === undefined) throw new Error(findSmallDiskProblem());
  const directory = mkdtempSync(join(tmpdir(), "small-disk-"));
  const script = 'mount -t tmpfs -o "size=$1,mode=700" tmpfs "$2" && echo mounted && exec cat';
  const args = [...namespace, "sh", "-c", script, "sh", String(bytes), directory];
  const holder = spawn("unshare", args, { stdio: ["pipe", "pipe", "inherit"] });
  const [line] = await Promise.race([once(createInterface({ input: holder.stdout }), "line"), once(holder, "exit")]);
  if (line !== "mounted") throw new Error(`no file system of ${bytes} bytes could be mounted: exit ${String(line)}`);
  const path = `/proc/${holder.pid}/root${directory}`;
  const filling = join(path, "filling");
  return {
    path,
    fill: () => fill(filling),
    free: () => rmSync(filling, { force: true }),
    async close() {
      await end(holder);
      rmdirSync(directory); // the mount ended with its last process
    },
  };
}

function findNamespace(): string[] | undefined {
  return NAMESPACES.find((namespace) => {
    try {
      execFileSync("unshare", [...namespace, "mount", "-t", "tmpfs", "tmpfs", tmpdir()], { stdio: "pipe" });
      return true;
    } catch {
      return false;
    }
  });
}

function fill(file: string): void {
  const fd = openSync(file, "a");
  const page = Buffer.alloc(4096);
  try {
    for (;;) writeSync(fd, page);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOSPC")) throw error;
  } finally {
    closeSync(fd);
  }
}

async function end(holder: ChildProcess): Promise<void> {
  holder.stdin?.end();
  if (holder.exitCode === null && holder.signalCode === null) await once(holder, "exit");
}
