import { posix } from "node:path";
import type { HostInfo } from "@codex/executor-protocol";
import { isWithin } from "@codex/permissions";
import type { AnalyzedCommand } from "../analyzed-command.js";
import { programName } from "../programs.js";
import { type DeniedRead, isDeniedRead } from "./deny-read.js";
import type { SandboxSelector } from "./sandbox-selector.js";

/** A command that is to run in a sandbox, on an executor that has none: what is not known to be safe needs approval. */
export interface MissingSandbox {
  /** Why there is no sandbox. */
  reason: string;
  /** The word through which a command that only reads would read what a sandbox denies; undefined if there is none. */
  findClosed(words: readonly string[]): string | undefined;
}

/** Undefined if the executor can sandbox, no sandbox is required, or commands are refused without one. `cwd` is absolute: where the command starts. */
export function findMissingSandbox(
  { name, host }: { name: string; host: HostInfo | undefined },
  cwd: string,
  { commands }: AnalyzedCommand,
  sandbox: SandboxSelector,
): MissingSandbox | undefined {
  if (sandbox.unrestricted || sandbox.whenUnavailable !== "ask") return undefined;
  const problem = findNoSandbox(host);
  if (problem === undefined) return undefined;
  const denied = sandbox.deniedReads?.(host) ?? [];
  const directories = listDirectories(commands, cwd, host?.home ?? "/");
  return {
    reason: `executor \`${name}\` ${problem}`,
    findClosed: (words) => findClosedWord(words, directories, denied),
  };
}

/** The directories in which commands of a script may run: where it starts, and wherever a `cd` in it leads. */
function listDirectories(commands: AnalyzedCommand["commands"], cwd: string, home: string): readonly string[] {
  const directories = new Set([cwd]);
  for (const [program = "", ...operands] of commands) {
    if (programName(program) !== "cd") continue;
    const targets = operands.filter((word) => !word.startsWith("-"));
    for (const target of targets.length === 0 ? [home] : targets) {
      for (const from of [...directories]) directories.add(posix.resolve(from, target));
      if (directories.size > MAX_DIRECTORIES) return [...directories, "/"];
    }
  }
  return [...directories];
}

/** Most directories of one script that are distinguished. */
const MAX_DIRECTORIES = 64;

/** Considers only the words: symlinks can only be resolved on the executor's host. */
function findClosedWord(
  [program = "", ...words]: readonly string[],
  directories: readonly string[],
  denied: readonly DeniedRead[],
): string | undefined {
  const descends = DESCENDING.has(programName(program));
  const isClosed = (path: string) =>
    INDIRECT_PATHS.some((pattern) => pattern.test(path)) ||
    denied.some((one) => isDeniedRead(one, path) || (descends && isWithin(fixedPart(one), path)));
  const isClosedAnywhere = (word: string) => directories.some((from) => isClosed(posix.resolve(from, word)));
  if (descends && isClosedAnywhere(".")) return program;
  return words.find((word) => listPaths(word).some(isClosedAnywhere));
}

/** What a word may name: itself, or a value attached to an option, after any number of option letters. */
const listPaths = (word: string): readonly string[] => {
  if (word.startsWith("--")) return [word, word.slice(word.indexOf("=") + 1)];
  const letters = /^-[a-zA-Z0-9]*/.exec(word)?.[0].length ?? 0;
  return [word, ...Array.from({ length: letters }, (_, at) => word.slice(at + 1))];
};

/** Programs that are known to be safe and read the files below a directory. */
const DESCENDING: ReadonlySet<string> = new Set(["grep", "rg"]);

/** Information about processes, memory, disks, and other ways to read a file other than by its name. */
const INDIRECT_PATHS = [
  /^\/proc\/[^/]+\/(?:task\/[^/]+\/)?(?:root|cwd|fd|environ|mem|map_files|cmdline)(?:\/|$)/,
  /^\/proc\/k(?:core|msg)$/,
  /^\/dev\/(?!(?:null|zero|full|u?random|tty|stdin)$)./,
];

/** The directory or file that contains everything a pattern matches. */
function fixedPart({ path, isPattern }: DeniedRead): string {
  if (!isPattern) return path;
  return posix.dirname(`${path.slice(0, path.search(/[*?[\]]/))}x`);
}

/** Why an executor cannot sandbox a command; undefined when it can. */
export function findNoSandbox(host: HostInfo | undefined): string | undefined {
  if (host?.sandbox !== undefined && host.sandbox.kind !== "none") return undefined;
  const why = host === undefined ? "it supports only the base messages" : host.sandbox?.problem;
  return `cannot apply a sandbox${why === undefined ? "" : `: ${why}`}`;
}
