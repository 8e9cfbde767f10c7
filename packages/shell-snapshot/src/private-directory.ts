import { createHash, randomBytes } from "node:crypto";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { homedir, hostname } from "node:os";
import { join } from "node:path";
import { MAX_AGE_MS } from "./limits.js";

/**
 * Files that only this process writes and that a sandboxed command can read but not write: below XDG_RUNTIME_DIR or
 * $CODEX_HOME, never in a directory for temporary files. Created with the first file.
 */
export interface PrivateDirectory {
  /**
   * Writes files, mode 600, into a new directory, mode 700. Returns that directory.
   * @throws a system error, and leaves nothing, when one cannot be written
   */
  write(files: Readonly<Record<string, string>>): PrivateFiles;
  /** Removes everything. Idempotent. */
  close(): void;
}

export interface PrivateFiles {
  path: string;
  /** Whether they are as they were written. */
  isIntact(): boolean;
  remove(): void;
}

export function createPrivateDirectory(env: Readonly<Record<string, string | undefined>>): PrivateDirectory {
  let own: string | undefined;
  const open = () => {
    // A cleanup job may have removed it.
    if (own !== undefined && lstatSync(own, { throwIfNoEntry: false })?.isDirectory()) return own;
    const base = join(findBase(env), "shell-snapshots");
    mkdirSync(base, { recursive: true, mode: 0o700 });
    const place = getPlace();
    removeOrphans(base, place);
    own = join(base, `${place}-${process.pid}-${randomBytes(9).toString("hex")}`);
    mkdirSync(own, { mode: 0o700 });
    return own;
  };
  return {
    write(files) {
      const path = join(open(), randomBytes(9).toString("hex"));
      mkdirSync(path, { mode: 0o700 });
      try {
        for (const [name, text] of Object.entries(files)) {
          writeFileSync(join(path, name), text, { mode: 0o600, flag: "wx" });
        }
      } catch (error) {
        rmSync(path, { recursive: true, force: true });
        throw error;
      }
      const describeAll = () =>
        Object.keys(files)
          .map((name) => describe(join(path, name)))
          .join("\n");
      const written = describeAll();
      return {
        path,
        isIntact: () => describeAll() === written,
        remove: () => rmSync(path, { recursive: true, force: true }),
      };
    },
    close() {
      if (own !== undefined) rmSync(own, { recursive: true, force: true });
      own = undefined;
    },
  };
}

function findBase(env: Readonly<Record<string, string | undefined>>): string {
  const runtime = env.XDG_RUNTIME_DIR;
  if (runtime?.startsWith("/") && existsSync(runtime)) return join(runtime, "codex");
  return env.CODEX_HOME || join(homedir(), ".codex");
}

/**
 * Removes directories of processes that were killed, whose pids are in the names. Processes of another host or namespace with
 * the same home cannot be checked: their directories are removed when no snapshot in them can still be valid.
 */
function removeOrphans(base: string, ownPlace: string): void {
  for (const name of readdirSync(base)) {
    const [, place, pid] = /^([0-9a-f]{12})-(\d+)-/.exec(name) ?? [];
    const path = join(base, name);
    const isOrphan = place === ownPlace ? !isAlive(Number(pid)) : isOld(path);
    if (isOrphan) rmSync(path, { recursive: true, force: true });
  }
}

/** Identifies the pid namespace and boot in which a pid is meaningful. */
function getPlace(): string {
  const facts = [hostname()];
  try {
    facts.push(readFileSync("/proc/sys/kernel/random/boot_id", "latin1"), readlinkSync("/proc/self/ns/pid"));
  } catch {
    // Not Linux: there is one per host.
  }
  return createHash("sha256").update(facts.join("\n")).digest("hex").slice(0, 12);
}

/** The age of a directory is that of the last snapshot created in it. */
function isOld(path: string): boolean {
  const there = lstatSync(path, { throwIfNoEntry: false });
  return there !== undefined && Date.now() - there.mtimeMs > 2 * MAX_AGE_MS;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

function describe(path: string): string {
  const info = statSync(path, { throwIfNoEntry: false, bigint: true });
  return info === undefined ? path : `${path} ${info.ino} ${info.size} ${info.ctimeNs}`;
}
