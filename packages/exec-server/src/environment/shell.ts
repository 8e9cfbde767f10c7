import { accessSync, constants, statSync } from "node:fs";
import { userInfo } from "node:os";
import { posix } from "node:path";

export interface Shell {
  name: string;
  path: string;
}

/**
 * The shell commands are meant for: the user's own if it is one that clients know how to call, else one that is there.
 * Looked for synchronously: nothing is served yet, and the threads of asynchronous calls take longer to start.
 */
export function detectShell(userShell: string | undefined = getUserShell()): Shell {
  const own = userShell !== undefined && KNOWN_SHELLS.has(posix.basename(userShell)) ? [userShell] : [];
  for (const path of [...own, ...COMMON_SHELLS]) {
    if (isExecutable(path)) return { name: posix.basename(path), path };
  }
  return { name: "sh", path: "/bin/sh" };
}

const KNOWN_SHELLS: ReadonlySet<string> = new Set(["bash", "zsh", "sh"]);
const COMMON_SHELLS: readonly string[] = [
  ...(process.platform === "darwin" ? ["/bin/zsh"] : []),
  ...["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash", "/bin/sh", "/usr/bin/sh"],
];

/** From the user database; a user who is not in it has none. */
function getUserShell(): string | undefined {
  try {
    return userInfo().shell ?? undefined;
  } catch {
    return undefined;
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return posix.isAbsolute(path) && statSync(path).isFile();
  } catch {
    return false;
  }
}
