import { constants } from "node:fs";
import { dirname, join, resolve } from "node:path/posix";
import type { SandboxDenial } from "@codex/exec-backend";
import { type HostFiles, isAllowed } from "./profile/host-files.js";
import { getAccess, type SandboxProfile } from "./profile/profile.js";

/** How a command in a sandbox ended. */
export interface EndedCommand {
  /** 128 + the number for a death by signal; undefined when it was never started. */
  exitCode: number | undefined;
  /** The last part of its output. */
  output: string;
  cwd: string;
}

/** What the host would allow without a sandbox. */
export interface HostPermissions {
  canRead(path: string): boolean;
  canWrite(path: string): boolean;
}

/**
 * What the sandbox refused a failed command. Certain are its start, a system call that killed it, and an error about a path that
 * the sandbox denies and the host allows. An error without such a path, or about the network, is a guess.
 */
export function findDenial(
  { exitCode, output, cwd }: EndedCommand,
  profile: SandboxProfile,
  files: HostFiles,
  host: HostPermissions = HOST_PERMISSIONS,
): SandboxDenial | undefined {
  if (exitCode === 0) return undefined;
  if (exitCode === undefined)
    return { certain: true, reason: `the sandbox did not start the program${findWrapperText(output)}` };
  if (exitCode === KILLED_BY_FILTER)
    return { certain: true, reason: "a system call that is unknown to the sandbox ended the program" };
  const lines = output.split(/[\r\n]+/);
  for (const { text, find } of PATH_ERRORS) {
    for (const line of lines.filter((candidate) => candidate.includes(text))) {
      const path = listPaths(line, text, cwd).find((candidate) => find(candidate, profile, files, host));
      if (path !== undefined) return { certain: true, reason: `the sandbox refused \`${path}\`: ${text}` };
    }
  }
  const hint = findHint(lines, exitCode, profile);
  return hint === undefined ? undefined : { certain: false, reason: `the sandbox may be the cause of "${hint}"` };
}

/** 128 + SIGSYS, the same on both architectures. */
const KILLED_BY_FILTER = 159;

const findWrapperText = (output: string): string => {
  const line = output.split(/[\r\n]+/).find((candidate) => candidate.startsWith("bwrap: "));
  return line === undefined ? "" : `: ${line.slice("bwrap: ".length)}`;
};

type Test = (path: string, profile: SandboxProfile, files: HostFiles, host: HostPermissions) => boolean;

const isWriteClosed: Test = (path, { fileSystem }, files, host) =>
  fileSystem !== "unrestricted" &&
  getAccess(fileSystem, toReal(path, files)) !== "write" &&
  host.canWrite(files.real(path) ?? dirname(toReal(path, files)));

const isReadClosed: Test = (path, { fileSystem }, files, host) =>
  fileSystem !== "unrestricted" &&
  getAccess(fileSystem, toReal(path, files)) === "deny" &&
  host.canRead(files.real(path) ?? "");

/** A placeholder is in the way. */
const isReserved: Test = (path, { fileSystem }) =>
  fileSystem !== "unrestricted" && fileSystem.entries.some((entry) => entry.missing && entry.path === path);

const PATH_ERRORS: readonly { text: string; find: Test }[] = [
  { text: "Read-only file system", find: isWriteClosed },
  { text: "EROFS", find: isWriteClosed },
  { text: "Device or resource busy", find: (...test) => isWriteClosed(...test) || isReadClosed(...test) },
  { text: "File exists", find: isReserved },
  { text: "Is a directory", find: isReserved },
  { text: "Permission denied", find: isReadClosed },
  { text: "EACCES", find: isReadClosed },
];

/** A path with the part that exists resolved, and the rest as it is. */
function toReal(path: string, files: HostFiles): string {
  const real = files.real(path);
  if (real !== undefined || path === "/") return real ?? path;
  return join(toReal(dirname(path), files), path.slice(path.lastIndexOf("/") + 1));
}

/**
 * Candidates for paths in an error line, the likeliest first: what is quoted, the name in `program: name: error`, and words
 * with a slash, the last one first, as a program begins the line with its own name.
 */
function listPaths(line: string, error: string, cwd: string): string[] {
  const quoted = [...line.matchAll(/['"`\u2018\u201c]([^'"`\u2018\u2019\u201c\u201d]+)['"`\u2019\u201d]/g)].map(
    (match) => match[1]!,
  );
  const before = line.slice(0, line.indexOf(error)).split(": ").filter(Boolean);
  const named = before.length < 2 ? [] : [before.at(-1)!.replace(/^cannot \w+ /, "")]; // as dash reports it
  const words = line.split(/[\s:;,()]+/).filter((word) => word.includes("/"));
  return [...new Set([...quoted, ...named, ...words.reverse()])]
    .filter((word) => word.length > 0 && word.length < MAX_PATH && !word.includes("\0"))
    .slice(0, MAX_CANDIDATES)
    .map((word) => resolve(cwd, word));
}

const MAX_PATH = 4_096;
const MAX_CANDIDATES = 32;

/** Texts that a sandbox may cause, as may other conditions. */
const HINTS = ["Read-only file system", "Operation not permitted", "Permission denied", "EROFS", "EPERM", "EACCES"];
const NETWORK_HINTS = [
  "Could not resolve host",
  "Temporary failure in name resolution",
  "Name or service not known",
  "Network is unreachable",
  "ENETUNREACH",
  "EAI_AGAIN",
];

/** Exit codes of a shell that found no program, or could not run the one it found. */
const SHELL_REFUSALS = [126, 127];

function findHint(lines: readonly string[], exitCode: number, { network }: SandboxProfile): string | undefined {
  const hints = [
    ...(network === "restricted" ? NETWORK_HINTS : []),
    ...(SHELL_REFUSALS.includes(exitCode) ? [] : HINTS),
  ];
  return hints.find((hint) => lines.some((line) => line.includes(hint)));
}

const HOST_PERMISSIONS: HostPermissions = {
  canRead: (path) => isAllowed(path, constants.R_OK),
  canWrite: (path) => isAllowed(path, constants.W_OK),
};
