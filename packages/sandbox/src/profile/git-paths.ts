import { join, resolve } from "node:path/posix";
import { MAX_GIT_INCLUDES, MAX_GIT_WORDS } from "../limits.js";
import { type GitSetting, MAX_GIT_CONFIG_BYTES, parseGitConfig } from "./git-config.js";
import type { HostFiles } from "./host-files.js";

/** What git runs, or reads as its configuration, outside of a git directory. */
export interface GitPath {
  path: string;
  kind: "directory" | "file";
  /** A command names it: if it is missing, it is probably no path at all. */
  isWord: boolean;
}

/** A file of git's configuration, and the directory that its relative paths start in. */
export interface GitConfigFile {
  path: string;
  /** Top of the working tree. */
  top: string;
}

/**
 * The paths that files of git's configuration name, and those that they include: whatever git would run or trust there. Conditions of
 * includes count as met. A value that only a shell could determine (`$PWD/x`) is not followed.
 * @param maxDepth includes within each other
 */
export function listGitPaths(
  configs: Iterable<GitConfigFile>,
  files: HostFiles,
  maxDepth: number = MAX_GIT_INCLUDES,
): GitPath[] {
  const found: GitPath[] = [];
  const waiting = [...configs].map((config) => ({ ...config, depth: 0 }));
  const seen = new Set(waiting.map(({ path, top }) => `${path}\0${top}`));
  for (const { path, top, depth } of waiting) {
    if (files.kind(path) === "missing") continue;
    for (const setting of files.parsed(path, MAX_GIT_CONFIG_BYTES, parseGitConfig) ?? []) {
      const place = toPlaces(setting, { path, top }, files);
      found.push(...place);
      if (!INCLUDES.has(setting.key)) continue;
      for (const included of place) {
        const key = `${included.path}\0${top}`;
        if (depth >= maxDepth || seen.size >= MAX_GIT_INCLUDES || seen.has(key)) continue;
        seen.add(key);
        waiting.push({ path: included.path, top, depth: depth + 1 });
      }
    }
  }
  return found;
}

const INCLUDES: ReadonlySet<string> = new Set(["include.path", "includeif.path"]);

/** Directories with hooks. */
const HOOKS: ReadonlySet<string> = new Set(["core.hookspath", "init.templatedir"]);

/** Commands, and files that decide whom git trusts; a pager or alias may have any name. */
const COMMANDS: ReadonlySet<string> = new Set([
  ...["alternaterefscommand", "askpass", "editor", "fsmonitor", "gitproxy", "pager", "sshcommand"].map(
    (name) => `core.${name}`,
  ),
  ...["clean", "smudge", "process"].flatMap((name) => [`filter.${name}`, `lfs.${name}`]),
  ...["diff.command", "diff.external", "diff.textconv", "difftool.cmd", "difftool.path", "interactive.difffilter"],
  ...["merge.driver", "mergetool.cmd", "mergetool.path", "guitool.cmd", "sequence.editor", "submodule.update"],
  ...["gpg.program", "gpg.defaultkeycommand", "gpg.allowedsignersfile", "gpg.revocationfile"],
  ...["credential.helper", "remote.uploadpack", "remote.receivepack", "uploadpack.packobjectshook"],
  ...["browser.cmd", "browser.path", "man.cmd", "man.path", "instaweb.httpd", "hook.command", "lfs.path", "lfs.args"],
  ...["trailer.cmd", "trailer.command", "sendemail.cccmd", "sendemail.tocmd", "sendemail.headercmd"],
  ...["sendemail.sendmailcmd", "sendemail.smtpserver", "imap.tunnel", "http.sslcainfo", "http.sslcapath"],
]);
const isCommand = ({ key, value }: GitSetting): boolean =>
  COMMANDS.has(key) || key.startsWith("pager.") || (key.startsWith("alias.") && value.startsWith("!"));

function toPlaces(setting: GitSetting, { path, top }: GitConfigFile, files: HostFiles): GitPath[] {
  const { key, value } = setting;
  if (value === "") return [];
  const from = (base: string, text: string) =>
    text.startsWith("~/") ? join(files.home ?? "/", text.slice(2)) : resolve(base, text);
  if (INCLUDES.has(key)) return [{ path: from(join(path, ".."), value), kind: "file", isWord: false }];
  if (HOOKS.has(key)) return [{ path: from(top, value), kind: "directory", isWord: false }];
  if (!isCommand(setting)) return [];
  const words = value.split(SHELL_SYNTAX, MAX_GIT_WORDS).filter(Boolean);
  // A first word without a slash is searched for on PATH.
  return words
    .filter((word, at) => word.includes("/") || at > 0)
    .map((word) => ({ path: from(top, word), kind: "file", isWord: true }));
}

/** What separates the words of a command. */
const SHELL_SYNTAX = /[\s"'`$(){}[\];&|<>=,!]+/;
