import { closeSync, writeSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import type { Native } from "@codex/native";
import { isWithin } from "@codex/permissions";
import { MOUNTS_DEADLINE_MS, SETTLE_DEADLINE_MS } from "../limits.js";
import type { RestrictedFiles, SandboxProfile } from "../profile/profile.js";
import type { WrapperStatus } from "../wrapped-command.js";
import { findOddMount, hasAllMounts, readMounts } from "./mount-table.js";

/** Blocks the program of a sandbox until its mounts have been verified; from then on nothing can change them. */
export interface MountGate {
  /** Why the program was not started; undefined before the decision, and if it was started. */
  readonly problem: string | undefined;
  /** Resolves with the decision, or when the sandbox has ended. Never rejects. */
  readonly passed: Promise<void>;
}

/**
 * Undefined where nothing could redirect a mount. A running command could where one writable directory is inside of another: it
 * may replace names by symbolic links until every mount is in place. The descriptor for the wrapper is appended to `opened`.
 * @param own path of a file that the sandbox has instead of the host's
 */
export function openGate(
  { fileSystem }: SandboxProfile,
  status: WrapperStatus,
  native: Pick<Native, "openPipe">,
  opened: number[],
  own?: string,
): MountGate | undefined {
  if (fileSystem === "unrestricted" || !isNested(fileSystem)) return undefined;
  const { read, write } = native.openPipe();
  opened.push(read);
  let problem: string | undefined;
  const passed = decide(write, { fileSystem, own }, status).then((found) => {
    problem = found;
  });
  return {
    get problem() {
      return problem;
    },
    passed,
  };
}

function isNested({ entries }: RestrictedFiles): boolean {
  const writable = entries.filter(({ access }) => access === "write");
  if (writable.some(({ path }) => path === "/")) return false;
  return writable.some(({ path }) => writable.some((outer) => outer.path !== path && isWithin(path, outer.path)));
}

interface Expected {
  fileSystem: RestrictedFiles;
  own: string | undefined;
}

/** Lets the program start, or ends the sandbox. Owns the descriptor. Resolves with the problem. */
async function decide(fd: number, expected: Expected, status: WrapperStatus): Promise<string | undefined> {
  try {
    const problem = await findProblem(expected, status);
    if (problem === undefined) writeSync(fd, "x");
    else if (status.init !== undefined) process.kill(status.init, "SIGKILL");
    return problem;
  } catch {
    return undefined; // the sandbox has ended by itself, and reports why
  } finally {
    closeSync(fd);
  }
}

async function findProblem({ fileSystem: files, own }: Expected, status: WrapperStatus): Promise<string | undefined> {
  let hasEnded = false;
  void status.ended.then(() => {
    hasEnded = true;
  });
  const begin = performance.now();
  let wholeSince: number | undefined;
  for (;;) {
    const mounts = status.init === undefined ? undefined : readMounts(status.init);
    const now = performance.now();
    if (mounts !== undefined && hasAllMounts(files, mounts, own)) {
      wholeSince ??= now;
      const odd = findOddMount(files, readMounts("self") ?? [], mounts, own);
      if (odd === undefined) return undefined;
      // Some may still be there because their removal has not finished.
      if (now - wholeSince > SETTLE_DEADLINE_MS) return `\`${odd}\` was replaced while the sandbox was created`;
    }
    if (hasEnded) throw new Error("the wrapper has ended");
    if (now - begin > MOUNTS_DEADLINE_MS) return `its mounts were not in place after ${MOUNTS_DEADLINE_MS} ms`;
    await setTimeout(1);
  }
}
