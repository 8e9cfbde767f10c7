import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";

export type ShellKind = "bash" | "zsh";

/** Identifies the state of the files that a login shell reads, missing ones included: it changes when one of them does. */
export function fingerprintStartupFiles(kind: ShellKind, env: Readonly<Record<string, string>>): string {
  const home = kind === "zsh" ? (env.ZDOTDIR ?? env.HOME ?? "/") : (env.HOME ?? "/");
  const own = OWN_FILES[kind].map((name) => join(home, name));
  return [...SYSTEM_FILES[kind], ...listDirectory("/etc/profile.d"), ...own].map(describe).join("\n");
}

/** Startup files of the system, with the files that they usually read. */
const SYSTEM_FILES: Readonly<Record<ShellKind, readonly string[]>> = {
  bash: ["/etc/profile", "/etc/profile.d", "/etc/bash.bashrc", "/etc/bashrc", "/etc/environment"],
  zsh: ["/etc", "/etc/zsh"].flatMap((directory) =>
    ["zshenv", "zprofile", "zshrc", "zlogin"].map((name) => join(directory, name)),
  ),
};

const OWN_FILES: Readonly<Record<ShellKind, readonly string[]>> = {
  bash: [".bash_profile", ".bash_login", ".profile", ".bashrc", ".bash_aliases"],
  zsh: [".zshenv", ".zprofile", ".zshrc", ".zlogin", ".profile"],
};

function listDirectory(path: string): string[] {
  try {
    return readdirSync(path).map((name) => join(path, name));
  } catch {
    return [];
  }
}

function describe(path: string): string {
  const info = statSync(path, { throwIfNoEntry: false, bigint: true });
  return info === undefined ? path : `${path} ${info.ino} ${info.size} ${info.mtimeNs} ${info.ctimeNs}`;
}
