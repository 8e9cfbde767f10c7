import { homedir, userInfo } from "node:os";
import type { HostInfo } from "@codex/executor-protocol";
import { isExecutable, resolveShell } from "./shell.js";

/** The host of this process, as an orchestrator needs it to resolve a call. */
export function getHostInfo(env: Readonly<Record<string, string | undefined>>): HostInfo {
  const user = attempt(() => userInfo());
  return {
    os: process.platform,
    arch: process.arch,
    shell: resolveShell({
      platform: process.platform,
      passwdShell: user?.shell ?? undefined,
      searchPath: env.PATH,
      isExecutable,
    }),
    cwd: attempt(process.cwd) ?? "/",
    home: attempt(homedir) ?? "/",
    user: user?.username ?? env.USER ?? "",
  };
}

/** A container may have no passwd entry for its user, and a directory may be gone. */
function attempt<T>(get: () => T): T | undefined {
  try {
    return get();
  } catch {
    return undefined;
  }
}
