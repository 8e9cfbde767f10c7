import { realpathSync } from "node:fs";
import { homedir, userInfo } from "node:os";
import { detectShell } from "@codex/exec-backend";
import type { HostInfo } from "@codex/executor-protocol";
import { findMovedPaths } from "@codex/permissions";
import { defined } from "@codex/values";

/** The host of this process, as an orchestrator needs it to resolve a call. */
export function getHostInfo(env: Readonly<Record<string, string | undefined>>): HostInfo {
  const user = attempt(() => userInfo());
  const movedPaths = findMovedPaths(env, isReachable);
  return {
    os: process.platform,
    arch: process.arch,
    shell: detectShell(user?.shell ?? undefined, env.PATH),
    cwd: attempt(process.cwd) ?? "/",
    home: attempt(homedir) ?? "/",
    user: user?.username ?? env.USER ?? "",
    ...defined({ movedPaths }),
  };
}

function isReachable(path: string): boolean {
  try {
    realpathSync(path);
    return true;
  } catch (error) {
    return !(error instanceof Error && "code" in error && error.code === "EACCES");
  }
}

/** A container may have no passwd entry for its user, and a directory may be gone. */
function attempt<T>(get: () => T): T | undefined {
  try {
    return get();
  } catch {
    return undefined;
  }
}
