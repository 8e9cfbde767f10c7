import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { userInfo } from "node:os";
import { posix } from "node:path";

export interface Shell {
  name: string;
  path: string;
}

/** The shell commands are meant for: the user's own if it is one that clients know how to call, else one that is there. */
export async function detectShell(userShell: string | undefined = getUserShell()): Promise<Shell> {
  const own = userShell !== undefined && KNOWN_SHELLS.has(posix.basename(userShell)) ? [userShell] : [];
  for (const path of [...own, ...COMMON_SHELLS]) {
    if (await isExecutable(path)) return { name: posix.basename(path), path };
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

async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return posix.isAbsolute(path) && (await stat(path)).isFile();
  } catch {
    return false;
  }
}
