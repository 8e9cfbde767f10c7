import { accessSync, constants, statSync } from "node:fs";
import { basename, delimiter, isAbsolute, join } from "node:path";

/** A shell program. */
export interface Shell {
  /** Base name without `.exe`, such as `zsh`. */
  name: string;
  /** Absolute, except `cmd.exe` where no other shell was found. */
  path: string;
}

/** The properties of a host that `resolveShell` needs. */
export interface ShellHost {
  /** `linux`, `darwin` or `win32`. */
  platform: string;
  /** The user's shell in the passwd database. */
  passwdShell: string | undefined;
  /** `PATH`; without it only the usual directories are searched. */
  searchPath: string | undefined;
  isExecutable(path: string): boolean;
}

/**
 * The shell of this host for scripts.
 * @param passwdShell the user's shell in the passwd database, if any
 * @param searchPath `PATH`; without it only the usual directories are searched
 */
export const detectShell = (passwdShell: string | undefined, searchPath?: string): Shell =>
  resolveShell({ platform: process.platform, passwdShell, searchPath, isExecutable });

const USER_SHELLS: ReadonlySet<string> = new Set(["bash", "zsh", "sh", "pwsh"]);
const FALLBACKS: Readonly<Record<string, readonly string[]>> = {
  darwin: ["zsh", "bash", "sh"],
  win32: ["pwsh.exe", "powershell.exe", "cmd.exe"],
};
const POSIX_FALLBACKS = ["bash", "zsh", "sh"];
const POSIX_DIRECTORIES = ["/bin", "/usr/bin", "/usr/local/bin"];

/** The user's shell if its syntax is known, else the first of the usual shells that the host has. */
export function resolveShell(host: ShellHost): Shell {
  const own = host.passwdShell;
  if (own !== undefined && USER_SHELLS.has(basename(own)) && host.isExecutable(own)) return describe(own);
  const posix = host.platform !== "win32";
  const directories = [...(host.searchPath ?? "").split(delimiter), ...(posix ? POSIX_DIRECTORIES : [])];
  for (const name of FALLBACKS[host.platform] ?? POSIX_FALLBACKS) {
    const found = directories.find((directory) => isIn(directory, name, host));
    if (found !== undefined) return describe(join(found, name));
  }
  return posix ? describe("/bin/sh") : describe("cmd.exe");
}

/** An empty or relative entry of PATH would depend on the directory of each command. */
const isIn = (directory: string, name: string, host: ShellHost): boolean =>
  isAbsolute(directory) && host.isExecutable(join(directory, name));

const describe = (path: string): Shell => ({ name: basename(path).replace(/\.exe$/i, ""), path });

/** Synchronous, because starting Node's thread pool takes longer. */
function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
