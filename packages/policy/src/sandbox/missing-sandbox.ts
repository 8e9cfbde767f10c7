import { posix } from "node:path";
import type { HostInfo } from "@codex/executor-protocol";
import { isWithin } from "@codex/permissions";
import type { AnalyzedCommand } from "../analyzed-command.js";
import { programName } from "../programs.js";
import { type DeniedRead, isDeniedRead } from "./deny-read.js";
import type { SandboxSelector } from "./sandbox-selector.js";

/** A command that is to run in a sandbox, on an executor that has none: what is not known to be safe is asked about. */
export interface MissingSandbox {
  /** Why there is no sandbox. */
  reason: string;
  /** The word by which a command that only reads would read what a sandbox closes. */
  findClosed(words: readonly string[]): string | undefined;
}

/** @param cwd absolute, where the command starts. Undefined where a sandbox can hold the command, where none is wanted, and where it is refused without one. */
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

/** Where commands of a script may run: where it starts, and wherever a `cd` in it leads. */
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

/** Directories of one script that are distinguished. */
const MAX_DIRECTORIES = 64;

/** By the words alone: where links lead is for the executor's host to know. */
function findClosedWord(
  [program = "", ...words]: readonly string[],
  directories: readonly string[],
  denied: readonly DeniedRead[],
): string | undefined {
  const descends = DESCENDING.has(programName(program));
  const isClosed = (path: string) =>
    BESIDE_FILES.some((pattern) => pattern.test(path)) ||
    denied.some((one) => isDeniedRead(one, path) || (descends && isWithin(fixedPart(one), path)));
  const isClosedAnywhere = (word: string) => directories.some((from) => isClosed(posix.resolve(from, word)));
  if (descends && isClosedAnywhere(".")) return program;
  return words.find((word) => listPaths(word).some(isClosedAnywhere));
}

/** What a word may name: itself, and the value of an option that ends it, behind as many letters as there are. */
const listPaths = (word: string): readonly string[] => {
  if (word.startsWith("--")) return [word, word.slice(word.indexOf("=") + 1)];
  const letters = /^-[a-zA-Z0-9]*/.exec(word)?.[0].length ?? 0;
  return [word, ...Array.from({ length: letters }, (_, at) => word.slice(at + 1))];
};

/** Known to be safe, and reading the files below a directory. */
const DESCENDING: ReadonlySet<string> = new Set(["grep", "rg"]);

/** What processes show of themselves, memory and disks, and other ways past the names of files. */
const BESIDE_FILES = [
  /^\/proc\/[^/]+\/(?:task\/[^/]+\/)?(?:root|cwd|fd|environ|mem|map_files|cmdline)(?:\/|$)/,
  /^\/proc\/k(?:core|msg)$/,
  /^\/dev\/(?!(?:null|zero|full|u?random|tty|stdin)$)./,
];

/** The directory, or file, that everything a pattern matches lies in. */
function fixedPart({ path, isPattern }: DeniedRead): string {
  if (!isPattern) return path;
  return posix.dirname(`${path.slice(0, path.search(/[*?[\]]/))}x`);
}

/** Why an executor cannot hold a command back; undefined when it can. */
export function findNoSandbox(host: HostInfo | undefined): string | undefined {
  if (host?.sandbox !== undefined && host.sandbox.kind !== "none") return undefined;
  const why = host === undefined ? "it knows only the base messages" : host.sandbox?.problem;
  return `cannot apply a sandbox${why === undefined ? "" : `: ${why}`}`;
}
