import { homedir, userInfo } from "node:os";
import type { HostInfo } from "@codex/executor-protocol";
import { isExecutable, resolveShell } from "./shell.js";

/** The host of this process, as an orchestrator needs it to resolve a call. */
export function getHostInfo(env: Readonly<Record<string, string | undefined>>): HostInfo {
  const user = getUser();
  return {
    os: process.platform,
    arch: process.arch,
    shell: resolveShell({
      platform: process.platform,
      passwdShell: user?.shell ?? undefined,
      searchPath: env.PATH,
      isExecutable,
    }),
    cwd: process.cwd(),
    home: homedir(),
    user: user?.username ?? env.USER ?? "",
  };
}

/** A container may run under a user id that its passwd database does not know. */
function getUser() {
  try {
    return userInfo();
  } catch {
    return undefined;
  }
}
